import Interception
import Testing

@testable import ProxyCore

/// Logins for a cookie on the way of an exchange, alone and beside a step-up.
@Suite struct CookieLoginTests {
    private func login(_ change: (inout CookieLogin) -> Void = { _ in }) -> Rule { LoginScene.rule(change) }

    private func begin(_ rules: [Rule], _ settings: Settings = Settings()) -> Conversation {
        var settings = settings
        settings.rules = rules
        return LoginScene.begin(settings)
    }

    private func granted(_ value: String) -> String { LoginScene.cookie.granted(value) }

    @Test func itIsToldHowLongItLasts() {
        let talk = begin([login()])
        talk.origin(granted("c"))
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=SESSION-A; AuthSession=c\r\n"))
        talk.origin(LoginScene.ok)
        #expect(talk.noted("lasts 600 s"), "\(talk.notes)")
    }

    @Test func aLoginThatTakesTooLongWhereNothingGoesOutWithout() {
        let talk = begin([login { $0.refused = .refuse }])
        talk.driver.waits(30_001)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 502 ") && talk.driver.client == .open, "\(talk.notes)")
    }

    /// Whatever it is told to do with requests to there.
    @Test func whoLogsInHasNoPartInItsOwnLogin() {
        var rule = login()
        rule.request = [SetHeader([.init("X-Mark", "1")])]
        let talk = begin([rule])
        let asked = talk.originGot()
        #expect(asked.hasPrefix("POST /_session ") && !asked.contains("X-Mark"), "\(asked)")
        talk.origin(granted("c"))
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.contains("X-Mark: 1\r\n") && sent.contains("AuthSession=c\r\n"), "\(sent)")
    }

    /// The cookie goes where the request goes in the end.
    @Test func anotherInterceptorSendsTheRequestElsewhere() {
        let elsewhere = Rule(name: "elsewhere", request: [SetHost("staging.test")])
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
