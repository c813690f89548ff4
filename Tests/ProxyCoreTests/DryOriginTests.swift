import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

private typealias Up = SteppingUp

@Suite("A request and its responses without a network")
struct DryOriginTests {
    private func run(
        _ message: String, _ settings: Settings, in tunnel: Origin? = nil, _ origin: DryOrigin
    ) -> DryRun {
        DryRun(.bytes(Array(message.utf8)), in: tunnel, settings, origin: origin)
    }

    private func always(_ text: String) -> DryOrigin { .always(.bytes(Array(text.utf8))) }
    private func script(_ texts: [String]) -> DryOrigin { .script(texts.map { .bytes(Array($0.utf8)) }) }

    /// The answer as it would stand on the wire.
    private func received(_ dryRun: DryRun) -> String? {
        guard let response = dryRun.received else { return nil }
        let lines = response.head.fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
        let body = String(decoding: response.body, as: UTF8.self)
        return "HTTP/1.1 \(response.head.status) \(response.head.reason)\r\n\(lines)\r\n\(body)"
    }

    @Test func itIsWhatTheClientGets() {
        let edited = settings {
            $0.rules = [
                .init(
                    name: "calm", when: .test(.status, [.exact("503")]),
                    response: [SetStatus(200), SetHeader([.init("X-Calm", "1")])])
            ]
        }
        let answer = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nServer: s\r\n\r\nno"
        let talk = Conversation(edited)
        talk.client(get)
        talk.connects()
        _ = talk.originGot()
        talk.origin(answer)
        let dryRun = run(get, edited, always(answer))
        #expect(received(dryRun) == talk.clientGot())
        #expect(dryRun.received?.isWhole == true && dryRun.sent.count == 1)
        if case .sent = dryRun.outcome { return }
        Issue.record("it was not sent")
    }

    @Test func howEachPhaseWent() {
        let dryRun = run(
            get,
            settings {
                $0.rules = [
                    .init(name: "in", request: [SetHeader([.init("X", "1")])]),
                    .init(name: "out", when: .test(.status, [.exact("200")]), response: [RemoveHeader(["server"])]),
                    .init(name: "none", when: .test(.status, [.exact("201")]), response: [SetStatus(200)]),
                ]
            }, always("HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: 0\r\n\r\n"))
        #expect(dryRun.phases.map(\.judgement.phase) == [.request, .response])
        #expect(dryRun.phases.map(\.attempt) == [1, 1] && dryRun.phases.allSatisfy { $0.call == nil })
        #expect(
            dryRun.phases.map(\.notes) == [
                [.edited(RuleNote("in", "set header X"), in: .request)],
                [.edited(RuleNote("out", "removed header server"), in: .response)],
            ])
        #expect(dryRun.interceptors?.map(\.matched) == [true, true, false])
        #expect(dryRun.interceptors?[2].misses == ["status is 200, wanted 201"])
    }

    @Test func aBodyUpToTheEndOfTheConnection() {
        let dryRun = run(get, Settings(), always("HTTP/1.1 200 OK\r\n\r\nall of it"))
        #expect(dryRun.received?.body == Array("all of it".utf8) && dryRun.received?.isWhole == true)
    }

    @Test func anAnswerThatIsCutShort() {
        let dryRun = run(get, Settings(), always("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"))
        #expect(dryRun.received?.head.status == 200 && dryRun.received?.isWhole == false)
    }

    @Test(arguments: [
        (DryAnswer.unreachable(.refused("connection refused")), 502),
        (.unreachable(.unresolvable("no such name")), 502),
        (.unreachable(.timedOut), 504), (.hangsUp, 502), (.bytes(Array("nonsense\r\n\r\n".utf8)), 502),
    ])
    func anOriginThatFails(_ answer: DryAnswer, _ status: Int) {
        let dryRun = run(get, Settings(), .always(answer))
        #expect(dryRun.received?.head.status == status)
        #expect(dryRun.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test func insideATunnel() {
        let origin = Origin(scheme: .https, host: "a.test", port: 443)
        for opened in [true, false] {
            let settings = settings {
                if opened { $0.interception.hosts = [DestinationPattern("a.test")].compactMap { $0 } }
            }
            let dryRun = run(
                "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n", settings, in: origin,
                script(["HTTP/1.1 204 None\r\n\r\n"]))
            #expect(received(dryRun) == "HTTP/1.1 204 None\r\nVia: 1.1 usher\r\n\r\n")
            #expect(dryRun.unasked == 0)
        }
    }

    @Test func aStepUpInAScript() {
        let done = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncart"
        let dryRun = run(Up.get, stepUpSettings(), script([Up.refused(), Up.step, Up.success, done, "unasked"]))
        #expect(dryRun.received?.body == Array("cart".utf8))
        #expect(dryRun.sent.map(\.isCall) == [false, true, true, false])
        #expect(dryRun.sent[2].body.count > 0)
        #expect(dryRun.sent[3].head.url == "http://shop.test/api/cart?_txid=t-1")
        #expect(dryRun.unasked == 1)
    }

    @Test func aStepUpThatNobodyAnswers() {
        let dryRun = run(Up.get, stepUpSettings(), always(Up.refused()))
        #expect(dryRun.received == nil && dryRun.sent.map(\.isCall) == [false, true])
    }

    @Test func phasesOfCalls() {
        var settings = stepUpSettings()
        settings.rules = [
            .init(name: "all", request: [SetHeader([.init("X", "1")])], response: [SetHeader([.init("Y", "1")])])
        ]
        let done = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncart"
        let dryRun = run(Up.get, settings, script([Up.refused(), Up.step, Up.success, done]))
        #expect(dryRun.phases.map(\.call) == [nil, 1, 1, 2, 2, nil, nil])
        #expect(
            dryRun.phases.map(\.judgement.phase)
                == [.request, .request, .response, .request, .response, .request, .response])
        #expect(dryRun.phases.last?.attempt == 2)
    }

    @Test("Waits take no time, and are counted")
    func time() {
        let wait = Up.json(
            "{\"authId\":\"a1\",\"callbacks\":[{\"type\":\"PollingWaitCallback\",\"output\":"
                + "[{\"name\":\"waitTime\",\"value\":\"5000\"}]}]}")
        let done = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncart"
        let dryRun = run(Up.get, stepUpSettings(), script([Up.refused(), wait, Up.success, done]))
        #expect(dryRun.received?.body == Array("cart".utf8), "\(dryRun.events)")
        #expect((5_000..<20_000).contains(dryRun.milliseconds))
    }

    @Test func anAnswerMadeHereIsReceivedToo() {
        let answer = DirectResponse(status: 418, headers: [], body: Array("tea".utf8))
        let dryRun = run(get, settings { $0.rules = [.init(name: "stop", request: [Respond(answer)])] }, .silent)
        #expect(dryRun.received?.head.status == 418 && dryRun.received?.body == Array("tea".utf8))
        #expect(dryRun.sent.isEmpty)
    }

    @Test func nothingIsReceivedBeforeAnAnswer() {
        #expect(run(get, Settings(), .silent).received == nil)
    }
}
