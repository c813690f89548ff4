public import Declaration

/// `iam_cookie`: Cloudant's login with an API key, in two steps.
public struct IAMCookie: BuiltIn {
    public static let name = "iam_cookie"
    public static let doc =
        "Exchanges an API key for a token, and the token for a cookie. Sends the cookie with each request, and renews it. All clients share it."
    public static let shape = Shape.object(
        ObjectShape(
            "iam_cookie",
            [
                Key("key", .text(.any), "The API key, such as ${credential.NAME}.", isRequired: true),
                Key("identity", .text(.serverURL), "The URL that exchanges the key for a token.", standard: identity),
            ] + CookieLogin.keys(place: place, cookie: cookie)))
    public static let sendsSecret = true

    private static let identity = "https://iam.cloud.ibm.com/identity/token"
    private static let place = "/_iam_session"
    private static let cookie = "IAMSession"

    private let login: CookieLogin
    private let identity: String

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields, let key = fields.text("key") else { return nil }
        identity = fields.text("identity") ?? Self.identity
        login = CookieLogin(.identity(url: identity, key: key), fields, place: Self.place, cookie: Self.cookie)
    }

    public func equip(_ rule: inout Rule) {
        var login = login
        login.interceptor = rule.name
        rule.login = .cookie(login)
    }

    public var words: String {
        "exchanges a key at \(identity), and the token at \(login.place) for the cookie \(login.cookie)"
    }
}
