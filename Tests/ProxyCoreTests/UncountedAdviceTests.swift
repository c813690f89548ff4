import Authorization
import Interception
import Testing

@testable import ProxyCore

/// An advice in a body that the resource does not take one from.
@Suite struct UncountedAdviceTests {
    private typealias Up = SteppingUp

    private static let decision =
        "{\"resource\":\"http://shop.test/api/cart\",\"actions\":{},\"attributes\":{},\"advices\":\(Up.transaction)}"
    private static let words = "the key advice of http://shop.test/api/* does not list body"

    /// - Returns: what was noted.
    private func answers(_ settings: Settings, _ answer: String) -> [String] {
        let talk = Conversation(settings)
        talk.exchange(Up.get, answer)
        let body = answer.text(behind: "\r\n\r\n")
        #expect(talk.clientGot().hasSuffix("\r\n\r\n" + body) && talk.driver.dialing == nil && talk.driver.isIdle)
        return talk.notes
    }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden"])
    func isSaidOnceOfEachResource(_ status: String) {
        let settings = stepUpSettings { $0.resources.append(.init(url: "http://other.test/*")) }
        let answer = Up.json(Self.decision, status: status)
        #expect(answers(settings, answer).contains { $0.contains(Self.words) })
        #expect(!answers(settings, answer).contains { $0.contains("no advice") })
        let other = Conversation(settings)
        other.exchange(
            Up.get.replacing("shop.test/api", with: "other.test").replacing("shop.test", with: "other.test"), answer)
        #expect(other.noted("the key advice of http://other.test/* does not list body"))
    }

    @Test(arguments: [
        ("{\"error\":\"closed\"}", "403 Forbidden", ""), ("[", "403 Forbidden", ""), (decision, "200 OK", ""),
        (decision, "404 Not Found", ""), (decision, "403 Forbidden", "Content-Encoding: odd\r\n"),
        (decision.replacing("{\"TransactionConditionAdvice\":[\"t-1\"]}", with: "{}"), "403 Forbidden", ""),
        (decision.replacing("\"actions\":{}", with: "\"actions\":{\"GET\":true}"), "403 Forbidden", ""),
    ])
    func otherAnswersAreNone(_ body: String, _ status: String, _ fields: String) {
        let settings = stepUpSettings()
        #expect(!answers(settings, Up.json(body, status: status, fields: fields)).contains { $0.contains("no advice") })
        #expect(
            answers(settings, Up.json(Self.decision, status: "403 Forbidden")).contains { $0.contains(Self.words) },
            "the word is still to be said")
    }

    /// What is large is passed on as it comes, and nothing is said of it.
    @Test func aLargeAnswerIsNotKept() {
        let talk = Conversation(stepUpSettings())
        talk.client(Up.get)
        talk.connects()
        talk.origin(
            "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: \(AdviceReader.maxBody + 1)\r\n\r\n[1"
        )
        #expect(talk.clientGot().hasSuffix("\r\n\r\n[1"))
        talk.origin(String(repeating: " ", count: AdviceReader.maxBody - 1))
        #expect(talk.record.status == 403 && !talk.noted("advice") && !talk.noted("too large"))
    }

    @Test func whereItCountsNothingIsSaid() {
        let settings = stepUpSettings { $0.resources = [.init(url: "http://shop.test/api/*", advice: .body)] }
        let talk = Conversation(settings)
        talk.exchange(Up.get, Up.json(Self.decision, status: "403 Forbidden"))
        #expect(talk.driver.dialing?.host == "am.test" && !talk.noted("no advice"))
    }
}

extension String {
    fileprivate func text(behind mark: String) -> String {
        firstRange(of: mark).map { String(self[$0.upperBound...]) } ?? self
    }
}
