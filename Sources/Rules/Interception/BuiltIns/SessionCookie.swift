public import Declaration

/// `session_cookie`: the login of CouchDB's `_session`, and of other services with a login form and a cookie.
public struct SessionCookie: BuiltIn {
    public static let name = "session_cookie"
    public static let doc =
        "Logs in with a form. Sends the cookie with each request, and renews it. All clients share it."
    public static let shape = Shape.object(
        ObjectShape(
            "session_cookie",
            [
                Key("user", .text(.any), "The user's name.", isRequired: true),
                Key("password", .text(.any), "The password, such as ${credential.NAME}.", isRequired: true),
                Key("fields", .object(fields), "The names of the form's fields.", standard: "{}"),
            ] + CookieLogin.keys(place: place, cookie: cookie)))
    public static let sendsSecret = true

    private static let place = "/_session"
    private static let cookie = "AuthSession"
    private static let fields = ObjectShape(
        "session_fields",
        [
            Key("name", .text(.name), "The field for the user's name.", standard: "name"),
            Key("password", .text(.name), "The field for the password.", standard: "password"),
        ])

    private let login: CookieLogin

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields, let user = fields.text("user"), let password = fields.text("password") else {
            return nil
        }
        let names = fields.fields("fields")
        let form = [
            CookieLogin.FormField(name: names?.text("name") ?? "name", value: user),
            CookieLogin.FormField(name: names?.text("password") ?? "password", value: password),
        ]
        login = CookieLogin(.form(form), fields, place: Self.place, cookie: Self.cookie)
    }

    public func equip(_ rule: inout Rule) {
        var login = login
        login.interceptor = rule.name
        rule.login = .cookie(login)
    }

    public var words: String { "logs in at \(login.place) for the cookie \(login.cookie)" }
}
