import Authorization
import Testing

@testable import ProxyCore

@Suite("A replaced session")
struct NewSessionTests {
    typealias Up = SteppingUp

    /// The replay may have been carried out, so the advice is not shown again; the session is new all the same.
    @Test func anAnswerMadeHereTellsOfTheNewSession() {
        let talk = Conversation(stepUpSettings(), delivery: .whole)
        talk.client(Up.post)
        talk.connects()
        talk.origin(Up.refused(Up.upgrade))
        talk.connects()
        talk.origin(Up.json("{}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"))
        talk.connects()
        #expect(talk.originGot().contains("POST /api/"))
        talk.driver.originEnds()
        let answer = talk.clientGot()
        #expect(answer.hasPrefix("HTTP/1.1 502 "), "\(answer)")
        #expect(answer.contains("\r\nSet-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"), "\(answer)")
    }

    /// What is refused as soon as it was won is refused for another reason.
    @Test func aRequestHasOneSessionOfUshersRenewed() {
        func own(_ token: String, _ generation: Int) -> ProvidedSession.Own {
            let session = OwnSession(
                SessionSource(token: token, carrier: .provided, affinity: nil), at: server, realm: "/",
                renewableUntil: 0, onEnd: nil)
            return .init(KeptSession(session: session, dueAt: 0, until: 0), generation: generation, since: 0)
        }
        let key = SessionKey(AuthorizationPolicy(resources: [], server: server))
        let provided = ProvidedSession()
        #expect(!provided.refuse() && provided.takeRefused() == nil, "there is none")
        provided.take(own("A", 1), key)
        #expect(provided.refuse() && provided.takeRefused()?.generation == 1)
        provided.take(own("B", 2), key)
        #expect(!provided.refuse() && provided.takeRefused() == nil)
    }
}
