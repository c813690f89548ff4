import Formats
import Interception
import ProxyCore
import Testing

/// Interceptors that ask what is in a body, on a connection: which bodies are kept, and which go through as they come.
@Suite("Conditions on bodies")
struct BodyConditionTests {
    private static let mark: [any RequestEdit] = [SetHeader([.init("X-Mark", "1")])]
    private static let markAnswer: [any ResponseEdit] = [SetHeader([.init("X-Mark", "1")])]

    private static func type(_ value: String) throws -> Condition {
        .test(.json(try #require(JSONPointer("/type"))), [.exact(value)])
    }

    private static func talk(_ rules: [Rule], bufferedBody: Int = 1 << 20, _ delivery: Delivery = .whole)
        -> Conversation
    {
        Conversation(
            settings {
                $0.rules = rules
                $0.limits.bufferedBody = bufferedBody
            }, delivery: delivery)
    }

    private static func post(_ body: String, _ path: String = "/pay") -> String {
        "POST http://a.test\(path) HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(arguments: Delivery.all)
    func aBodyIsKeptUntilItIsKnown(_ delivery: Delivery) throws {
        let rule = Rule(name: "mark", when: try Self.type("payment"), request: Self.mark)
        for (body, isMarked) in [(#"{"type": "payment"}"#, true), (#"{"type": "refund"}"#, false)] {
            let talk = Self.talk([rule], delivery)
            talk.client(String(Self.post(body).dropLast(4)))
            #expect(talk.driver.dialing == nil, "nothing goes out before it is here")
            talk.client(String(body.suffix(4)))
            talk.connects()
            let got = talk.originGot()
            #expect(got.contains("X-Mark: 1\r\n") == isMarked && got.hasSuffix(body))
            talk.origin(ok)
            #expect(talk.clientGot() == okForClient)
        }
    }

    /// They are what the body came with, and no other body has them.
    @Test(arguments: Delivery.all)
    func trailersGoAlong(_ delivery: Delivery) throws {
        let edits: [(any RequestEdit, Bool)] = [
            (Self.mark[0], true), (ReplaceBody([(.text("refund"), "payment")]), false),
        ]
        for (edit, isSame) in edits {
            let rule = Rule(name: "mark", when: try Self.type("refund"), request: [edit])
            let talk = Self.talk([rule], delivery)
            let body = #"{"type":"refund"}"#
            talk.client(
                "POST http://a.test/pay HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nTrailer: X-Sum\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n11\r\n\(body)\r\n0\r\nX-Sum: 8\r\n\r\n")
            talk.connects()
            let got = talk.originGot()
            let chunks = "Transfer-Encoding: chunked\r\n\r\n11\r\n\(body)\r\n0\r\nX-Sum: 8\r\n\r\n"
            #expect(got.hasSuffix(chunks) == isSame && got.contains("Trailer: X-Sum\r\n") == isSame, "\(got)")
            #expect(got.contains("X-Sum: 8") == isSame && got.contains("Content-Length: 18\r\n") != isSame)
            talk.origin(ok)
            #expect(talk.clientGot() == okForClient)
        }
    }

    @Test func aBodyThatTheHeadRulesOutIsNotKept() throws {
        let rule = Rule(
            name: "mark", when: .all([try Self.type("payment"), .test(.path, [.exact("/pay")])]), request: Self.mark)
        let talk = Self.talk([rule])
        let message = Self.post(#"{"type": "payment"}"#, "/other")
        talk.client(String(message.dropLast(4)))
        #expect(talk.driver.dialing != nil, "it goes through as it comes")
        talk.connects()
        talk.client(String(message.suffix(4)))
        #expect(!talk.originGot().contains("X-Mark"))
    }

    @Test func whatIsTooLargeGoesThroughAndIsToldOf() throws {
        let body = #"{"type": "payment", "pad": "\#(String(repeating: "x", count: 100))"}"#
        for framing in ["Content-Length: \(body.utf8.count)\r\n\r\n\(body)", chunked(body)] {
            let rules = [
                Rule(name: "mark", when: try Self.type("payment"), request: Self.mark),
                Rule(name: "not", when: .not(try Self.type("payment")), request: [SetHeader([.init("X-Not", "1")])]),
                Rule(name: "late", when: try Self.type("payment"), response: Self.markAnswer),
            ]
            let talk = Self.talk(rules, bufferedBody: 64)
            talk.client(
                "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\n\(framing)")
            talk.connects()
            let got = talk.originGot()
            #expect(!got.contains("X-Mark") && got.contains("X-Not: 1\r\n") && got.contains(body))
            talk.origin(ok)
            #expect(talk.clientGot() == okForClient)
            let words = "json /type finds nothing in the body, which is larger than the 64 bytes"
            for name in ["mark", "not", "late"] {
                #expect(talk.notes.count { $0.contains("\(name): \(words)") } == 1, "\(talk.notes)")
            }
        }
    }

    private func chunked(_ body: String) -> String {
        "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
    }

    /// An interceptor that edits responses alone has the request's body kept at its time.
    @Test(arguments: Delivery.all)
    func theRequestsBodyDecidesOnTheAnswer(_ delivery: Delivery) throws {
        let busy = Condition.test(.status, [.exact("503")])
        let rule = Rule(name: "late", when: .all([busy, try Self.type("payment")]), response: Self.markAnswer)
        for (type, status, isMarked) in [
            ("payment", "503 No", true), ("payment", "200 OK", false), ("x", "503 No", false),
        ] {
            let talk = Self.talk([rule], delivery)
            talk.exchange(Self.post(#"{"type": "\#(type)"}"#), "HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok")
            #expect(talk.clientGot().contains("X-Mark: 1\r\n") == isMarked)
        }
    }

    @Test(arguments: Delivery.all)
    func theAnswersBodyDecidesOnTheAnswer(_ delivery: Delivery) throws {
        let condition = Condition.test(.responseJSON(try #require(JSONPointer("/error"))), [.exact("busy")])
        let rule = Rule(name: "late", when: condition, response: Self.markAnswer)
        for (body, isMarked) in [(#"{"error":"busy"}"#, true), (#"{"error":"none"}"#, false)] {
            let talk = Self.talk([rule], delivery)
            talk.exchange(
                get, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n\(body)")
            let got = talk.clientGot()
            #expect(got.contains("X-Mark: 1\r\n") == isMarked && got.hasSuffix(body))
        }
        let stream = Self.talk([rule], delivery)
        stream.exchange(get, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        #expect(stream.clientGot().contains("data: 1"), "an event is not held")
    }

    @Test func aShareIsTakenAcrossConnections() {
        let rule = Rule(
            name: "some", request: Self.mark, response: Self.markAnswer, sampling: Sampling(every: 2))
        let talk = Self.talk([rule])
        var marks: [Bool] = []
        for _ in 0..<4 {
            talk.exchange(get, ok)
            let (sent, got) = (talk.originGot(), talk.clientGot())
            #expect(sent.contains("X-Mark") == got.contains("X-Mark"))
            marks.append(got.contains("X-Mark"))
        }
        #expect(marks == [false, true, false, true], "an exchange in the place of another one is another one")
    }
}
