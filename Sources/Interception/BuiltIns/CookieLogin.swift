internal import Declaration

/// How a cookie is won that opens a service, and for how long it is good.
public struct CookieLogin: Hashable, Sendable {
    /// What is asked, and with what.
    public enum Manner: Hashable, Sendable {
        /// A form with a name and a password.
        case form([FormField])
        /// A token for an API key, from an identity service; then the cookie for the token.
        case identity(url: String, key: String)
        /// A name and a password as header fields, which AM takes where a tree reads them there.
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

    /// What becomes of requests while the login is refused.
    public enum Refused: String, CaseIterable, Sendable {
        /// They go out without the cookie.
        case pass
        /// They are answered here.
        case refuse
    }

    /// Whose login it is.
    public var interceptor: String
    public var manner: Manner
    /// Where the cookie is asked for: a path of the origin that the request is for, or a URL.
    public var place: String
    /// Name of the cookie.
    public var cookie: String
    /// A cookie that is to last no longer than so many seconds is replaced before it is sent.
    public var renewBefore: Int
    public var refused: Refused
    /// For so many milliseconds nobody tries again what was refused.
    public var coolDown: Int
    /// Milliseconds that a request waits for the whole of it.
    public var hold: Int
    /// Pages of other sites that may have it sent along.
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

    /// - Parameter fields: those of `keys`.
    init(_ manner: Manner, _ fields: Fields, place: String, cookie: String) {
        self.init(manner, place: fields.text("login") ?? place, cookie: fields.text("cookie") ?? cookie)
        if let lead = fields.number("renew_before") { renewBefore = lead / 1000 }
        if let refused = fields.text("refused").flatMap(Refused.init) { self.refused = refused }
        if let coolDown = fields.number("cool_down") { self.coolDown = coolDown }
        if let hold = fields.number("hold") { self.hold = hold }
        origins = fields.pageOrigins
    }

    /// What all such logins have.
    static func keys(place: String, cookie: String) -> [Key] {
        [
            Key(
                "login", .text(Self.place), "Where the cookie is asked for: a path of the request's origin, or a URL.",
                standard: place),
            Key("cookie", .text(.cookieName), "Name of the cookie that the login wins.", standard: cookie),
            Key(
                "renew_before", .duration(0...86_400_000),
                "A cookie that is to last no longer than this is replaced before it is sent.", standard: "300s"),
            Key(
                "refused", .choice(Refused.allCases.map(\.rawValue)),
                "What becomes of requests while the login is refused: they go out without the cookie, or are answered here.",
                standard: "pass"),
            Key(
                "cool_down", .duration(0...86_400_000), "How long a login that was refused is not tried again.",
                standard: "60s"),
            Key("hold", .duration(1...3_600_000), "How long a request waits for the login.", standard: "30s"),
            PageOrigins.key,
        ]
    }

    private static let place = TextFormat(
        "a path that begins with /, or an http or https URL", isPublic: true
    ) { text in
        TextFormat.path.accepts(text) || TextFormat.serverURL.accepts(text)
    }
}
