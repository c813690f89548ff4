import ProxyCore
import Testing

@Suite("Traces of conversations")
struct TraceTests {
    private func trace() -> Trace { Trace("here", isFull: true) }

    /// A request and its answer, and a connection that its time-out ends.
    private func talk(_ answer: String = ok, _ delivery: Delivery = .whole, idle: Int = 500) -> Trace {
        let trace = trace()
        let talk = Conversation(
            settings { $0.timeouts.idle = idle }, pool: LinkPool(trace: trace), delivery: delivery)
        talk.exchange(get, answer)
        talk.driver.waits(1000)
        return trace
    }

    @Test func theSameIsTheSame() {
        #expect(talk().mark == talk().mark && talk().text == talk().text)
        let trace = talk()
        #expect(trace.mark == trace.mark)
    }

    @Test func oneByteIsFound() {
        let other = String(ok.dropLast() + "K")
        #expect(talk().mark != talk(other).mark && talk().text != talk(other).text)
    }

    @Test func oneMillisecondIsFound() { #expect(talk().mark != talk(idle: 501).mark) }

    @Test func whatHappensIsToldInWords() {
        let told = """
            @0 in client 1
              | GET http://a.test/ HTTP/1.1\\r\\n
              | Host: a.test\\r\\n
              | \\r\\n
            @0 out dial 1 a.test:80
            @0 in origin 1 connects to a.test:80
            @0 out origin 1
              | GET / HTTP/1.1\\r\\n
              | Host: a.test\\r\\n
              | Via: 1.1 usher\\r\\n
              | \\r\\n
            @0 in origin 1
              | HTTP/1.1 200 OK\\r\\n
              | Content-Length: 2\\r\\n
              | \\r\\n
              | ok
            @0 out client 1
              | HTTP/1.1 200 OK\\r\\n
              | Via: 1.1 usher\\r\\n
              | Content-Length: 2\\r\\n
              | \\r\\n
              | ok
            @0 out origin 1 kept
            @0 out record 1 GET http://a.test/ 200 attempts=1 in=0 out=2 took=0
            @500 out client 1 closed

            """
        #expect(talk().text == told)
    }

    /// Only where something comes of a piece does it matter how the input was cut.
    @Test func anAnswerByteByByteIsPassedOnSo() {
        let trace = talk(ok, .byteByByte)
        #expect(trace.text.contains("@0 in origin 1\n  | k\n@0 out client 1\n  | k\n"))
    }

    @Test func howManyWritesItTakesIsNoDifference() {
        let (once, twice) = (trace(), trace())
        once.went("ab".utf8, to: .client(1), at: 3)
        for piece in ["a", "", "b"] { twice.went(piece.utf8, to: .client(1), at: 3) }
        #expect(once.mark == twice.mark && once.text == "@3 out client 1\n  | ab\n")
        twice.went("b".utf8, to: .client(1), at: 4)
        #expect(once.mark != twice.mark)
    }

    @Test func theOrderMattersOnOneConnectionAlone() {
        let sides: [Trace.Side] = [.client(1), .client(2), .origin(1)]
        let (forth, back) = (trace(), trace())
        for side in sides { forth.went("x".utf8, to: side, at: 0) }
        for side in sides.reversed() { back.went("x".utf8, to: side, at: 0) }
        #expect(forth.mark == back.mark && forth.text == back.text)
        forth.went("closed", to: .client(1), at: 1)
        forth.went("x".utf8, to: .client(1), at: 1)
        back.went("x".utf8, to: .client(1), at: 1)
        back.went("closed", to: .client(1), at: 1)
        #expect(forth.mark != back.mark)
    }

    /// An input is what the things after it come of.
    @Test func whatCameFirstMatters() {
        let (before, after) = (trace(), trace())
        before.came("x".utf8, from: .client(1), at: 0)
        before.went("y".utf8, to: .origin(1), at: 0)
        after.went("y".utf8, to: .origin(1), at: 0)
        after.came("x".utf8, from: .client(1), at: 0)
        #expect(before.mark != after.mark)
    }

    @Test func whatIsDrawnAtRandomIsNamed() {
        func upgrade(_ key: String, _ again: String) -> String {
            let trace = trace()
            trace.went("Sec-WebSocket-Key: \(key)\r\n".utf8, to: .origin(1), at: 0)
            trace.came(again.utf8, from: .origin(1), at: 0)
            return trace.text
        }
        #expect(
            upgrade("abcd", "abcd") == upgrade("efgh", "efgh") && upgrade("abcd", "abcd") != upgrade("abcd", "efgh"))
        #expect(upgrade("abcd", "abcd").hasSuffix("{drawn 1}\n"))
    }

    @Test func framesAreTold() {
        let trace = trace()
        trace.went(WireFrame(["RST_STREAM", "1", "8"], [])?.bytes ?? [], to: .client(1), at: 0)
        #expect(trace.text == "@0 out client 1\n  RST_STREAM 1 8\n    | \\x00\\x00\\x00\\x08\n")
    }
}
