import Authorization
import Interception
import Testing

@testable import ProxyCore

/// What pages of other sites cause: it goes out as it came.
@Suite("Requests from pages of other sites")
struct ForeignPageTests {
    typealias Up = SteppingUp

    private static let evil = Up.get.replacing("\r\n\r\n", with: "\r\nOrigin: https://evil.test\r\n\r\n")
    private static let link = Up.get.replacing("\r\n\r\n", with: "\r\nSec-Fetch-Site: cross-site\r\n\r\n")

    @Test(arguments: [evil, link])
    func adviceIsTheClients(_ request: String) {
        let talk = Conversation(stepUpSettings())
        talk.client(request)
        talk.connects()
        #expect(!talk.originGot().contains("x-authenticate-response"))
        talk.origin(Up.refused())
        #expect(talk.clientGot() == Up.original() && talk.driver.dials == 1, "\(talk.notes)")
        #expect(talk.noted("caused by a page of "))
    }

    @Test func aListedPageHasItActedOn() {
        let talk = Conversation(stepUpSettings { $0.origins = PageOrigins(["https://*.test.test"]) })
        talk.client(Self.evil.replacing("evil.test", with: "app.test.test"))
        talk.connects()
        talk.origin(Up.refused())
        #expect(talk.driver.dialing?.host == "am.test", "\(talk.notes)")
    }

    @Test(arguments: [Advice.Source.body, .redirect, .header])
    func adviceIsNotTranslated(_ form: Advice.Source) {
        let talk = Conversation(stepUpSettings { $0.resources[0].translation = form })
        talk.client(Self.evil)
        talk.connects()
        #expect(!talk.originGot().contains("x-authenticate-response"))
        talk.origin(Up.refused())
        #expect(talk.clientGot() == Up.original(), "\(talk.notes)")
    }

    /// AM decides by the session that the browser sent along itself.
    @Test func whatAMAllowsGoesOut() {
        let talk = Enforced.talk(Self.evil)
        talk.connects()
        #expect(talk.originGot().contains("\"ssoToken\":\"SESSION-A\""))
        talk.origin(Enforced.decision())
        #expect(talk.driver.dialing?.host == "shop.test", "\(talk.notes)")
    }

    @Test(arguments: [nil, Advice.Source.header])
    func whatAMAdvisesIsNotDone(_ form: Advice.Source?) {
        let talk = Enforced.talk(Enforced.settings { $0.resources[0].translation = form }, Decisions(), Self.evil)
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.transaction))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && !got.contains("t-1"), "\(got)")
        #expect(got.contains("caused by a page of https://evil.test"), "\(got)")
        #expect(talk.driver.dials == 1, "\(talk.notes)")
    }

    /// A cookie of the configuration is not asked for either.
    @Test(arguments: LoginScene.allCases)
    func noLoginIsMade(_ scene: LoginScene) {
        let talk = scene.begin(Settings(), Self.evil)
        let sent = talk.originGot()
        #expect(sent.hasPrefix("GET /api/cart ") && !sent.contains(scene.shown("")), "\(sent)")
        talk.origin(LoginScene.ok)
        #expect(talk.noted("not added: caused by a page of https://evil.test (origins)"), "\(talk.notes)")
    }
}
