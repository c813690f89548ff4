internal import Declaration

/// A login that obtains a cookie of a service, and the lifetime of that cookie.
public struct CookieLogin: Hashable, Sendable {
    /// The requests of the login, with its credentials.
    public enum Manner: Hashable, Sendable {
        /// A form with a name and a password.
        case form([FormField])
        /// An identity service exchanges an API key for a token; the service exchanges the token for the cookie.
        case identity(url: String, key: String)
        /// A name and a password in header fields, for AM trees that read them there.
        case fields(user: String, password: String)
    }

    public struct FormField: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The handling of requests while the login fails.
    public enum Refused: String, CaseIterable, Sendable {
        /// Requests are sent without the cookie.
        case pass
        /// Usher responds to requests itself.
        case refuse
    }

    /// The interceptor that owns the login.
    public var interceptor: String
    public var manner: Manner
    /// The address of the login: a path on the request's origin, or a URL.
    public var place: String
    /// The name of the cookie.
    public var cookie: String
    /// In seconds. A cookie that expires sooner is renewed before use.
    public var renewBefore: Int
    public var refused: Refused
    /// In milliseconds. After a refusal, no login is tried for this long.
    public var coolDown: Int
    /// In milliseconds. The longest time that a request waits for the login.
    public var hold: Int
    /// Pages of other sites whose requests may carry the cookie.
    public var origins = PageOrigins()

    public init(
        interceptor: String = "", _ manner: Manner, place: String, cookie: String, renewBefore: Int = 300,
        refused: Refused = .pass, coolDown: Int = 60_000, hold: Int = 30_000
    ) {
        self.interceptor = interceptor
        self.manner = manner
        self.place = place
        self.cookie = cookie
        self.renewBefore = renewBefore
        self.refused = refused
        self.coolDown = coolDown
        self.hold = hold
    }

    /// - Parameter fields: the values of `keys`.
    init(_ manner: Manner, _ fields: Fields, place: String, cookie: String) {
        self.init(manner, place: fields.text("login") ?? place, cookie: fields.text("cookie") ?? cookie)
        if let lead = fields.number("renew_before") { renewBefore = lead / 1000 }
        if let refused = fields.text("refused").flatMap(Refused.init) { self.refused = refused }
        if let coolDown = fields.number("cool_down") { self.coolDown = coolDown }
        if let hold = fields.number("hold") { self.hold = hold }
        origins = fields.pageOrigins
    }

    /// The keys that all cookie logins have.
    static func keys(place: String, cookie: String) -> [Key] {
        [
            Key(
                "login", .text(Self.place), "The login endpoint: a path of the request's origin, or a URL.",
                standard: place),
            Key("cookie", .text(.cookieName), "The name of the cookie.", standard: cookie),
            Key(
                "renew_before", .duration(0...86_400_000),
                "Replace a cookie that ends within this time.", standard: "300s"),
            Key(
                "refused", .choice(Refused.allCases.map(\.rawValue)),
                "Handling of requests after a refused login. pass: send them without the cookie. refuse: send none.",
                standard: "pass"),
            Key(
                "cool_down", .duration(0...86_400_000), "The pause after a refused login.",
                standard: "60s"),
            Key(
                "hold", .duration(1...3_600_000), "The longest time that a request waits for the login.",
                standard: "30s"),
            PageOrigins.key,
        ]
    }

    private static let place = TextFormat(
        "a path that begins with /, or an http or https URL", isPublic: true
    ) { text in
        TextFormat.path.accepts(text) || TextFormat.serverURL.accepts(text)
    }
}
