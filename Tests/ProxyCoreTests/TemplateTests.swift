import Declaration
import Interception
import ProxyCore
import Testing

@Suite("Values from the exchange")
struct TemplateTests {
    /// Edits as the configuration makes them, each with one name and one place.
    private static func edit<One: Edit>(
        _ kind: One.Type, _ name: String, _ place: String, in phase: EditPhase
    ) -> One? {
        var reader = RuleReader(findings: Findings(file: "usher.yaml"))
        reader.phase = phase
        var fields = Fields(position: .start)
        fields.written = [name]
        let value = Decoded(position: .start, written: "", content: .template([.place(place)]))
        fields.all = [.init(name: name, position: .start, value: value)]
        return One(Decoded(position: .start, written: "", content: .fields(fields)), reader)
    }

    private func post(_ query: String, _ body: String) -> String {
        "POST http://a.test/\(query) HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("State passes from phase to phase, and not to the next exchange", arguments: Delivery.all)
    func state(_ delivery: Delivery) throws {
        let keep = try #require(Self.edit(SetState.self, "id", "request.query.in", in: .request))
        let tell = try #require(Self.edit(SetHeader.self, "X-Id", "state.id", in: .response))
        let talk = Conversation(
            settings { $0.rules = [.init(name: "a", request: [keep], response: [tell])] }, delivery: delivery)
        talk.exchange("GET http://a.test/?in=7 HTTP/1.1\r\nHost: a.test\r\n\r\n", ok)
        #expect(talk.clientGot().contains("X-Id: 7\r\n"))
        talk.exchange(get, ok)
        #expect(!talk.clientGot().contains("X-Id"))
        #expect(talk.noted("${state.id} is not there") && talk.driver.isIdle)
    }

    @Test(
        "A body is kept for a value in the response, and is sent unchanged",
        arguments: Delivery.all)
    func sentBody(_ delivery: Delivery) throws {
        let tell = try #require(Self.edit(SetHeader.self, "X-User", "request.json./user", in: .response))
        let talk = Conversation(settings { $0.rules = [.init(name: "a", response: [tell])] }, delivery: delivery)
        let body = #"{"user": "ann\r\nX-Evil: 1"}"#
        talk.exchange(post("", body), ok)
        #expect(talk.originGot().hasSuffix("\r\n\r\n\(body)"))
        #expect(talk.clientGot().contains("X-User: ann  X-Evil: 1\r\n") && talk.driver.isIdle)
    }

    @Test("A template without a body value does not wait for the body")
    func streamed() throws {
        let tell = try #require(Self.edit(SetHeader.self, "X-At", "now", in: .request))
        let talk = Conversation(settings { $0.rules = [.init(name: "a", request: [tell])] })
        talk.driver.tell(time: 1_795_253_100)
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n01234")
        talk.connects()
        #expect(talk.originGot().contains("X-At: 2026-11-21T09:25:00Z\r\n"))
    }
}
