import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// A request that goes out a second time: with which body and which credentials, and when it does not.
@Suite("Repeated requests")
struct SecondSendingTests {
    typealias Up = SteppingUp

    private static func request(_ method: String, _ body: String = "abc") -> String {
        "\(method) http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A rule that marks what goes out.
    private static let mark = Rule(name: "mark", request: [SetHeader([.init("X-Mark", "1")])])

    /// By then what goes along is there, and the connection to the origin is idle.
    private func ready(_ scene: LoginScene, _ rules: [Rule] = [mark]) -> Conversation {
        var settings = Settings()
        settings.rules = rules
        let talk = scene.begin(settings, Self.request("PUT"))
        talk.origin(scene.granted("v"))
        talk.connects()
        talk.origin(ok)
        _ = (talk.originGot(), talk.clientGot())
        return talk
    }

    // MARK: a pooled connection that went stale

    @Test(arguments: LoginScene.allCases)
    func theWholeOfItWithWhatGoesAlong(_ scene: LoginScene) {
        let talk = ready(scene)
        talk.client(Self.request("PUT"))
        let first = talk.originGot()
        talk.driver.originEnds()
        talk.connects()
        let second = talk.originGot()
        #expect(second == first && second.hasSuffix("\r\n\r\nabc"), "\(first)\(second)")
        #expect(second.contains(scene.shown("v")) && second.contains("X-Mark: 1\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot().contains("200 OK") && talk.driver.records.count == 2)
    }

    /// Whatever else may have been carried out is not asked for twice.
    @Test(arguments: LoginScene.allCases, ["POST", "PATCH"])
    func neverWhatMayHaveBeenDone(_ scene: LoginScene, _ method: String) {
        let talk = ready(scene)
        talk.client(Self.request(method))
        #expect(talk.originGot().hasPrefix("\(method) "))
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.clientGot().hasPrefix("HTTP/1.1 502 "), "\(talk.notes)")
    }

    /// What interceptors made of the method is what the origin may have carried out.
    @Test func theMethodIsTheOneThatWentOut() {
        for (asked, made, isRepeated) in [("PUT", "POST", false), ("POST", "PUT", true)] {
            let rule = Rule(name: "method", request: [SetMethod(made)])
            let talk = ready(.cookie, [rule])
            if talk.driver.dialing != nil { talk.connects() }
            talk.client(Self.request(asked))
            #expect(talk.originGot().hasPrefix("\(made) "), "\(talk.notes)")
            talk.driver.originEnds()
            #expect((talk.driver.dialing != nil) == isRepeated, "\(asked) as \(made)")
        }
    }

    /// It went past, and nobody has it any more.
    @Test func neverABodyThatWentPast() {
        let talk = Conversation()
        talk.exchange(get, ok)
        _ = talk.originGot()
        talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
        #expect(talk.originGot().hasSuffix("\r\n\r\nabc"))
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.status == 502)
    }

    /// Though the origin says that it made nothing of it.
    @Test(arguments: [("GET", true), ("POST", false)])
    func aRefusedStreamIsNoReasonForHalfARequest(_ method: String, _ isRepeated: Bool) {
        var out = CommandBuffer()
        var connection = ClientConnection(engine: Engine(Settings()), client: "192.0.2.1:1", now: 0)
        let body = method == "POST" ? "Content-Length: 3\r\n\r\nabc" : "\r\n"
        connection.received(
            Array("\(method) http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(body)".utf8).span, now: 0, &out)
        guard let id = connection.http.exchanges.current?.exchange.id else {
            Issue.record("nothing is under way")
            return
        }
        connection.happened(.leased(reused: false, sendsRaw: false), to: id, now: 0, &out)
        out.clearCommands()
        connection.happened(.streamEnded(.reset(.refused)), to: id, now: 0, &out)
        #expect(out.commands.contains { if case .lease = $0 { true } else { false } } == isRepeated)
        #expect(String(decoding: out.client, as: UTF8.self).hasPrefix("HTTP/1.1 502 ") != isRepeated)
    }

    /// A second connection that ends is the last.
    @Test(arguments: LoginScene.allCases)
    func onceAndByANewConnection(_ scene: LoginScene) {
        let talk = ready(scene)
        talk.client(Self.request("PUT"))
        talk.driver.originEnds()
        #expect(talk.driver.dialing != nil)
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.status == 502, "\(talk.notes)")
    }

    /// It counts among the attempts that all have together.
    @Test func itCountsAmongTheAttempts() {
        var settings = Settings()
        settings.limits.retries = 1
        settings.rules = [
            Rule(name: "again", when: .test(.status, [.exact("503")]), response: [Retry(RetryPolicy())])
        ]
        let talk = Conversation(settings)
        talk.exchange(get, ok)
        talk.client(get)
        talk.driver.originEnds()
        talk.connects()
        _ = talk.clientGot()
        talk.origin("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 ") && talk.noted("limits.retries"), "\(talk.notes)")
    }

    // MARK: an interceptor's retry

    /// It is made of what the client sent: neither what was added for the attempt before nor its body is left.
    @Test(arguments: LoginScene.allCases)
    func aRetryHasTheClientsBodyAndOneOfEach(_ scene: LoginScene) {
        var policy = RetryPolicy()
        policy.backoff = Backoff(first: 1)
        policy.repeatsAny = true
        let again = Rule(name: "again", when: .test(.status, [.exact("503")]), response: [Retry(policy)])
        let talk = ready(scene, [Self.mark, again])
        talk.client(Self.request("POST"))
        let first = talk.originGot()
        talk.origin("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
        talk.driver.waits(1)
        if talk.driver.dialing != nil { talk.connects() }
        let second = talk.originGot()
        #expect(second == first && second.hasSuffix("\r\n\r\nabc"), "\(first)\(second) \(talk.notes)")
        #expect(second.contains(scene.shown("v")))
    }

    // MARK: a replay

    /// The session that AM gave, the transaction, and the client's own body, once.
    @Test func aReplayIsTheClientsRequestWithWhatWasWon() {
        let talk = asked(request: Up.post, refused: Up.refused(Up.upgrade))
        talk.origin(
            Up.json("{\"tokenId\":\"SESSION-B\"}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"))
        if talk.driver.dialing != nil { talk.connects() }
        let sent = talk.originGot()
        #expect(sent.hasSuffix("\r\n\r\na=1&b=2") && sent.contains("Cookie: iPlanetDirectoryPro=SESSION-B\r\n"))
        #expect(!sent.contains("SESSION-A"), "\(sent)")
        // it may have been carried out, so it does not go out again
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.status == 502, "\(talk.notes)")
    }
}
