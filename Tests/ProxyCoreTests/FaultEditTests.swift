import HTTPCodec
import Interception
import ProxyCore
import Testing

/// What interceptors break on purpose, and nothing else does.
@Suite("Faults")
struct FaultEditTests {
    private func talk(
        request: [any RequestEdit] = [], response: [any ResponseEdit] = [], _ delivery: Delivery = .whole
    ) -> Conversation {
        Conversation(
            settings {
                let path = Condition.test(.path, [.exact("/broken")])
                $0.rules = [.init(name: "chaos", when: path, request: request, response: response)]
            }, delivery: delivery)
    }

    private let broken = "GET http://a.test/broken HTTP/1.1\r\nHost: a.test\r\n\r\n"
    private let ten = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"

    /// What the client got, byte for byte, and how its connection ended.
    private func end(_ talk: Conversation) -> (text: String, state: DriverModel.ClientState) {
        (String(decoding: talk.driver.sent, as: UTF8.self), talk.driver.client)
    }

    @Test("A fault in the request phase sends nothing to the origin", arguments: Breakage.allCases)
    func inTheRequestPhase(_ breakage: Breakage) {
        let talk = talk(request: [Fault(breakage)])
        talk.client(broken)
        #expect(talk.driver.dials == 0 && talk.noted("chaos: the client gets no response: \(breakage.words)"))
        let (text, state) = end(talk)
        #expect(state == (breakage == .reset ? .reset : .finished))
        let isSilent = breakage == .reset || breakage == .empty
        #expect(text.isEmpty == isSilent && talk.record.responseBytes == UInt64(talk.driver.sent.count))
        #expect(talk.record.status == 0 && talk.driver.records.count == 1)
    }

    @Test("A fault in the response phase replaces the origin's response", arguments: Breakage.allCases)
    func inTheResponsePhase(_ breakage: Breakage) {
        let talk = talk(response: [Fault(breakage)])
        talk.exchange(broken, ok)
        #expect(talk.originGot().hasPrefix("GET /broken ") && talk.driver.releases == [false])
        let (text, state) = end(talk)
        #expect(state == (breakage == .reset ? .reset : .finished) && !text.contains("Via:"))
    }

    @Test func theBytesThatNobodyCanRead() {
        func bytes(_ breakage: Breakage) -> [UInt8] {
            let talk = talk(request: [Fault(breakage)])
            talk.client(broken)
            return talk.driver.sent
        }
        for breakage in Breakage.allCases {
            let bytes = bytes(breakage)
            #expect(
                DryResponse(reading: bytes, to: RequestHead()).map(\.isWhole) != true, "\(breakage) is no valid answer")
        }
        #expect(bytes(.garbage).count == 256 && bytes(.garbage)[0] >= 0x80 && bytes(.garbage) != bytes(.garbage))
        func text(_ breakage: Breakage) -> String { String(decoding: bytes(breakage), as: UTF8.self) }
        #expect(text(.malformedHeader).hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text(.malformedLength).contains("\r\nContent-Length: two\r\n"))
        #expect(text(.malformedChunk).hasSuffix("\r\n\r\n2\r\nok\r\nno chunk\r\n"))
        #expect(text(.malformedStatus).hasPrefix("HTTP/1.1 two hundred\r\n"))
    }

    @Test("Earlier pipelined responses stay whole, and nothing follows the fault", arguments: Breakage.allCases)
    func pipelined(_ breakage: Breakage) {
        let talk = talk(request: [Fault(breakage)])
        talk.client(get + broken + get)
        talk.connects()
        talk.origin(ok)
        // bytes that follow may be a letter's accent to a text
        let sent = talk.driver.sent
        #expect(sent.starts(with: "HTTP/1.1 200 OK\r\n".utf8) && sent.firstRange(of: "\r\n\r\nok".utf8) != nil)
        #expect(talk.driver.records.map(\.status) == [200, 0] && talk.driver.dials == 1)
        talk.client(get)
        #expect(talk.driver.records.count == 2 && talk.driver.client != .open)
    }

    @Test func aFaultWaitsBehindADelay() {
        let talk = talk(request: [Delay(.fixed(500)), Fault(.empty)])
        talk.client(broken)
        talk.driver.waits(499)
        #expect(talk.driver.client == .open)
        talk.driver.waits(1)
        #expect(talk.driver.client == .finished && talk.driver.dials == 0 && talk.record.milliseconds == 500)
        let later = self.talk(response: [Delay(.fixed(500)), Fault(.reset)])
        later.exchange(broken, ok)
        #expect(later.driver.client == .open && later.driver.releases == [false])
        later.driver.waits(500)
        #expect(later.driver.client == .reset && later.driver.sent.isEmpty)
    }

    @Test("A body is truncated in any framing and in any pieces", arguments: Delivery.all)
    func cutShort(_ delivery: Delivery) {
        for (answer, framing) in [
            (ten, "Content-Length: 10\r\n\r\n"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n"
            ),
        ] {
            for resets in [false, true] {
                for inRequest in [false, true] {
                    let cut = AnswerEnding(cut: .init(after: 4, resets: resets))
                    let talk = talk(
                        request: inRequest ? [Fault(cut)] : [], response: inRequest ? [] : [Fault(cut)], delivery)
                    talk.exchange(broken, answer)
                    let (text, state) = end(talk)
                    #expect(text.contains(framing) && state == (resets ? .reset : .finished))
                    #expect(text.contains("3") && !text.contains("5") && !text.hasSuffix("0\r\n\r\n"), "\(text)")
                    #expect(talk.record.responseBytes == 4)
                    #expect(
                        talk.noted("chaos: the response body was cut off after 4 bytes") && talk.record.status == 200
                    )
                    #expect(talk.driver.releases == [false])
                }
            }
        }
    }

    @Test func nothingOfABodyAndAllOfIt() {
        let none = talk(response: [Fault(AnswerEnding(cut: .init(after: 0)))])
        none.exchange(broken, ten)
        #expect(end(none).text.hasSuffix("\r\n\r\n") && none.driver.client == .finished)
        // what is no longer than that is whole, and the connection goes on
        let all = talk(response: [Fault(AnswerEnding(cut: .init(after: 10)))])
        all.exchange(broken, ten)
        #expect(end(all).text.hasSuffix("0123456789") && all.driver.isIdle && !all.noted("cut off"))
        #expect(all.driver.releases == [true])
        all.exchange(get, ok)
        #expect(all.driver.records.map(\.status) == [200, 200])
    }

    @Test func theEarliestCutCountsAndEveryHold() {
        var ending = AnswerEnding(cut: .init(after: 9), holds: [.fixed(1)])
        ending.add(AnswerEnding(cut: .init(after: 4, resets: true), holds: [.fixed(2)]))
        ending.add(AnswerEnding(cut: .init(after: 5)))
        #expect(ending.cut == .init(after: 4, resets: true) && ending.holds.drawn().map(\.milliseconds) == [1, 2])
        #expect(!ending.isPlain)
        #expect(AnswerEnding().isPlain && AnswerEnding().holds.isEmpty)
        let both = talk(
            request: [Fault(AnswerEnding(cut: .init(after: 7)))],
            response: [Fault(AnswerEnding(cut: .init(after: 3)))])
        both.exchange(broken, ten)
        #expect(end(both).text.hasSuffix("\r\n\r\n012"))
    }

    @Test("A response made by Usher is truncated, too")
    func anAnswerMadeHere() {
        let answer = DirectResponse(status: 503, body: Array("0123456789".utf8))
        for edits: [any RequestEdit] in [
            [Fault(AnswerEnding(cut: .init(after: 4))), Respond(answer)],
            [Delay(.fixed(100)), Fault(AnswerEnding(cut: .init(after: 4))), Respond(answer)],
        ] {
            let talk = talk(request: edits)
            talk.client(broken)
            talk.driver.waits(100)
            let (text, state) = end(talk)
            #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("Content-Length: 10\r\n") && !text.contains("Via"))
            #expect(text.hasSuffix("\r\n\r\n0123") && state == .finished && talk.driver.dials == 0)
            #expect(talk.record.status == 503 && talk.record.responseBytes == 4)
        }
    }

    @Test("A slow close delivers the whole response, and delays its end")
    func slowClose() {
        for (answer, early, late) in [
            (ten, "0123456789", ""),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
                "a\r\n0123456789\r\n", "0\r\n\r\n"
            ),
        ] {
            let talk = talk(response: [Fault(AnswerEnding(holds: [.fixed(300), .fixed(200)]))])
            talk.exchange(broken, answer)
            #expect(end(talk).text.hasSuffix("\r\n\r\n" + early) && end(talk).text.contains("Connection: close\r\n"))
            #expect(talk.driver.client == .open && talk.driver.releases == [true])
            talk.driver.waits(499)
            #expect(talk.driver.client == .open && talk.driver.records.isEmpty)
            talk.driver.waits(1)
            #expect(talk.driver.client == .finished && end(talk).text.hasSuffix(early + late))
            #expect(talk.record.milliseconds == 500)
            let told = talk.notes.filter { $0.hasSuffix(" ms late") }
            #expect(told == [300, 200].map { "chaos: the response ends \($0) ms late" })
        }
    }

    @Test("A client may leave while the end is delayed")
    func aClientThatLeaves() {
        let talk = talk(response: [Fault(AnswerEnding(holds: [.fixed(10_000)]))])
        talk.exchange(broken, ten)
        talk.driver.clientIsLost()
        #expect(talk.driver.records.count == 1 && talk.driver.isClosed)
    }

    @Test("A fault ends the exchange during an upload")
    func anUpload() {
        let talk = talk(response: [Fault(.empty)])
        talk.client("POST http://a.test/broken HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n01234")
        talk.connects()
        talk.origin(ok)
        #expect(talk.driver.client == .finished && talk.driver.sent.isEmpty && talk.driver.releases == [false])
        talk.client("56789")
        #expect(talk.driver.records.count == 1)
    }

    @Test func answersWithoutABody() {
        for (method, answer) in [
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), ("GET", "HTTP/1.1 304 Not Modified\r\n\r\n"),
        ] {
            let talk = talk(response: [Fault(AnswerEnding(cut: .init(after: 0)))])
            talk.exchange("\(method) http://a.test/broken HTTP/1.1\r\nHost: a.test\r\n\r\n", answer)
            #expect(talk.driver.isIdle && talk.driver.client == .open, "there is nothing to break off")
        }
    }

    @Test("If Usher's own call fails, the client gets the response with the advice", arguments: Breakage.allCases)
    func aCallOfUshersOwn(_ breakage: Breakage) {
        for cut in [nil, AnswerEnding.Cut(after: 3)] {
            var settings = stepUpSettings()
            let edit = cut.map { Fault(AnswerEnding(cut: $0)) } ?? Fault(breakage)
            let calls = Condition.all([.test(.host, [.exact("am.test")]), .test(.by, [.exact("usher")])])
            settings.rules = [.init(name: "chaos", when: calls, response: [edit])]
            let talk = Conversation(settings)
            talk.exchange(SteppingUp.get, SteppingUp.refused())
            talk.connects()
            talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"a\":\"long\"}")
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 401 ") && talk.driver.client == .open, "\(talk.notes)")
            let words =
                cut == nil
                ? "interceptor chaos broke the response to the call: \(breakage.rawValue)"
                : "cut the response to the call after 3 bytes"
            #expect(talk.noted(words), "\(talk.notes)")
        }
    }
}
