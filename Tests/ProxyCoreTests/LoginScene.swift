import Authorization
import Interception
import Testing

@testable import ProxyCore

/// What has requests to `shop.test` go out with something that a login wins.
enum LoginScene: CaseIterable {
    case token, cookie

    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let unauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"

    static func source(_ change: (inout TokenSettings) -> Void = { _ in }) -> TokenSource {
        var entry = TokenSettings(resources: ["http://shop.test/api/*"], manner: .clientCredentials, server: server)
        entry.client = OAuthClient(id: "shop", secret: "s", authentication: .basic)
        change(&entry)
        return TokenSource(entry)
    }

    static func rule(_ change: (inout CookieLogin) -> Void = { _ in }) -> Rule {
        var login = CookieLogin(
            interceptor: "couch", .form([.init(name: "name", value: "ada")]), place: "/_session", cookie: "AuthSession")
        change(&login)
        var rule = Rule(
            name: "couch",
            when: .all([
                .test(.host, [.exact("shop.test"), .exact("staging.test")]),
                .test(.scheme, [.exact("http"), .exact("https")]),
            ]))
        rule.login = .cookie(login)
        return rule
    }

    /// The connection is there that the login asks for, where what is asked for is none of the client's first.
    func begin(_ settings: Settings = Settings(), _ request: String = SteppingUp.get) -> Conversation {
        var settings = settings
        switch self {
        case .token: settings.tokens = TokenPolicy([Self.source()])
        case .cookie: settings.rules.append(Self.rule())
        }
        return Self.begin(settings, request)
    }

    static func begin(_ settings: Settings, _ request: String = SteppingUp.get) -> Conversation {
        let talk = Conversation(settings, cookies: DryCredentials<CookieSessions>(), tokens: DryTokens())
        talk.driver.tell(time: 1_000_000)
        talk.client(request)
        talk.connects()
        return talk
    }

    /// What the call begins with by which it is won.
    var call: String {
        switch self {
        case .token: "POST /am/oauth2/realms/root/access_token HTTP/1.1\r\n"
        case .cookie: "POST /_session HTTP/1.1\r\n"
        }
    }

    func granted(_ value: String) -> String {
        switch self {
        case .token: SteppingUp.json("{\"access_token\":\"\(value)\"}")
        case .cookie:
            SteppingUp.json("{\"ok\":true}", fields: "Set-Cookie: AuthSession=\(value); Max-Age=600; Path=/\r\n")
        }
    }

    /// What a request has that goes out with it.
    func shown(_ value: String) -> String {
        switch self {
        case .token: "Authorization: Bearer \(value)\r\n"
        case .cookie: "AuthSession=\(value)\r\n"
        }
    }
}
