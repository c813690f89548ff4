import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Logins for a cookie on the way of an exchange, alone and beside a step-up.
@Suite struct CookieLoginTests {
    private func login(_ change: (inout CookieLogin) -> Void = { _ in }) -> Rule {
        var login = CookieLogin(
            interceptor: "couch", .form([.init(name: "name", value: "ada")]), place: "/_session", cookie: "AuthSession")
        change(&login)
        var rule = Rule(name: "couch", when: .test(.host, [.exact("shop.test"), .exact("staging.test")]))
        rule.detour = .cookie(login)
        return rule
    }

    private func begin(
        _ rules: [Rule], _ settings: Settings = Settings(), _ request: String = SteppingUp.get
    ) -> Conversation {
        var settings = settings
        settings.rules = rules
        let talk = Conversation(settings, cookies: DryLogins<CookieJar>())
        talk.driver.tell(time: 1_000_000)
        talk.client(request)
        talk.connects()
        return talk
    }

    private func granted(_ value: String) -> String {
        SteppingUp.json("{\"ok\":true}", fields: "Set-Cookie: AuthSession=\(value); Max-Age=600; Path=/\r\n")
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let unauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"

    @Test func aLoginComesFirst() {
        let talk = begin([login()])
        #expect(talk.originGot().hasPrefix("POST /_session HTTP/1.1\r\n"), "\(talk.notes)")
        talk.origin(granted("c"))
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=SESSION-A; AuthSession=c\r\n"))
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n") && talk.noted("lasts 600 s"), "\(talk.notes)")
        // the next request of the same client has it at once
        talk.client(SteppingUp.get)
        #expect(talk.originGot().contains("AuthSession=c\r\n"))
    }

    /// The advice is looked at first; what is sent again has both, and a cookie that is over by then is renewed on top.
    @Test func beside() {
        let talk = begin([login()], stepUpSettings())
        talk.origin(granted("c"))
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/"), "\(talk.notes)")
        talk.origin(SteppingUp.success)
        talk.connects()
        let replay = talk.originGot()
        #expect(replay.contains("_txid=t-1") && replay.contains("AuthSession=c\r\n"), "\(replay)")
        talk.origin(Self.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /_session "), "\(talk.notes)")
        talk.origin(granted("d"))
        talk.connects()
        let again = talk.originGot()
        #expect(again.contains("_txid=t-1") && again.contains("AuthSession=d\r\n"), "\(again)")
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
    }

    @Test(arguments: [CookieLogin.Refused.pass, .refuse])
    func aLoginThatTakesTooLong(refused: CookieLogin.Refused) {
        let talk = begin([login { $0.refused = refused }])
        #expect(talk.originGot().hasPrefix("POST /_session "))
        talk.driver.waits(30_001)
        if refused == .refuse {
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 502 ") && talk.driver.client == .open, "\(talk.notes)")
            return
        }
        talk.connects()
        #expect(talk.originGot().hasPrefix("GET /api/cart "), "\(talk.notes)")
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n") && talk.noted("longer than hold allows"))
    }

    @Test func aRenewalThatFailsGivesTheRefusalBack() {
        let talk = begin([login()])
        talk.origin(granted("c"))
        talk.connects()
        talk.origin(Self.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /_session "), "\(talk.notes)")
        talk.origin("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
        #expect(
            talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("the origin's answer was delivered"), "\(talk.notes)"
        )
    }

    @Test func noAttemptIsLeftForARenewal() {
        var settings = Settings()
        settings.limits.retries = 0
        let talk = begin([login()], settings)
        talk.origin(granted("c"))
        talk.connects()
        talk.origin(Self.unauthorized)
        talk.connects()
        talk.origin(granted("d"))
        #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("limits.retries"), "\(talk.notes)")
    }

    /// The cookie goes where the request goes in the end.
    @Test func anotherInterceptorSendsTheRequestElsewhere() {
        let elsewhere = Rule(name: "elsewhere", request: [.setHost("staging.test")])
        let talk = begin([elsewhere, login()])
        #expect(talk.originGot().contains("Host: staging.test\r\n"), "\(talk.notes)")
        talk.origin(granted("c"))
        talk.connects()
        let sent = talk.originGot()
        #expect(
            sent.hasPrefix("GET /api/cart ") && sent.contains("Host: staging.test\r\n")
                && sent.contains("AuthSession=c"))
    }

    @Test func twoLoginsForOneRequest() {
        let other = login {
            $0.interceptor = "other"
            $0.cookie = "Other"
            $0.place = "/other"
        }
        let talk = begin([login(), other])
        talk.origin(granted("c"))
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /other "), "\(talk.notes)")
        talk.origin(SteppingUp.json("{}", fields: "Set-Cookie: Other=o; Path=/\r\n"))
        talk.connects()
        #expect(talk.originGot().contains("AuthSession=c; Other=o\r\n"))
    }
}
