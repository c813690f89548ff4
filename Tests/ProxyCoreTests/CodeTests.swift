import HTTPCodec
import Interception
import Interceptors
import ProxyCore
import Testing

/// What works off the loop, made of functions.
private struct Later: AsyncRequestInterceptor, AsyncResponseInterceptor {
    var wantsBody = false
    var request: @Sendable (inout Request, Interceptors.Action) async throws -> Void = { _, _ in }
    var response: @Sendable (inout Response, Request) async throws -> Void = { _, _ in }

    func intercept(request: Request, action: Interceptors.Action) async throws -> Request {
        var changed = request
        try await self.request(&changed, action)
        return changed
    }

    func intercept(response: Response, request: Request, action: Interceptors.Action) async throws -> Response {
        var changed = response
        try await self.response(&changed, request)
        return changed
    }
}

private struct Trouble: Error, CustomStringConvertible {
    let description = "not today"
}

/// A phase waits for code that works off the loop, and goes on behind it.
@Suite("Interceptors in Swift")
struct CodeTests {
    private static func rule(_ name: String, deadline: Int = 1_000, when: Condition = .always, _ code: Later) -> Rule {
        let request: [(any RequestEdit)?] = [
            SetHeader([.init("X-Before", "1")]), SwiftEdit("code", code, in: .request, deadline: deadline),
            SetHeader([.init("X-After", "1")]),
        ]
        return Rule(name: name, when: when, request: request.compactMap { $0 })
    }

    private static func answers(_ name: String, deadline: Int = 1_000, _ code: Later) -> Rule {
        let response: [(any ResponseEdit)?] = [
            SetHeader([.init("X-Before", "1")]), SwiftEdit("code", code, in: .response, deadline: deadline),
            SetHeader([.init("X-After", "1")]),
        ]
        return Rule(name: name, response: response.compactMap { $0 })
    }

    private func talk(_ rules: Rule..., delivery: Delivery = .whole, change: (inout Settings) -> Void = { _ in })
        -> Conversation
    {
        Conversation(
            settings {
                $0.rules = rules
                change(&$0)
            }, delivery: delivery)
    }

    private let next = Rule(name: "next", request: [SetHeader([.init("X-Next", "1")])])

    // MARK: requests

    @Test("A request waits for the interceptor, and is sent as the interceptor changed it", arguments: Delivery.all)
    func aRequestWaits(_ delivery: Delivery) async {
        let code = Later(request: { request, _ in
            request.headers["X-Code"] = request.headers["X-Before"]
            request.query["q"] = "1"
        })
        let talk = talk(Self.rule("slow", code), next, delivery: delivery)
        talk.client(get)
        #expect(talk.driver.dialing == nil && talk.driver.calls.count == 1 && !talk.driver.isIdle)
        talk.driver.waits(999)
        await talk.driver.runs()
        talk.connects()
        #expect(
            talk.originGot() == "GET /?q=1 HTTP/1.1\r\nHost: a.test\r\nX-Before: 1\r\nX-Code: 1\r\nX-After: 1\r\n"
                + "X-Next: 1\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.isIdle && talk.driver.cancelled == 0)
        #expect(talk.notes.filter { $0.hasPrefix("slow: ") }.count == 2 && talk.noted("slow: swift code, added header"))
    }

    @Test(arguments: Delivery.all)
    func aBodyIsGivenWhole(_ delivery: Delivery) async {
        let code = Later(wantsBody: true, request: { request, _ in request.text = (request.text ?? "-") + "!" })
        let talk = talk(Self.rule("slow", code), delivery: delivery)
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello")
        await talk.driver.runs()
        talk.connects()
        #expect(talk.originGot().hasSuffix("Content-Length: 6\r\n\r\nhello!"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.isIdle)
    }

    @Test("A body waits, too, if no interceptor reads it", arguments: Delivery.all)
    func aBodyThatNobodyAsksFor(_ delivery: Delivery) async {
        let talk = talk(Self.rule("slow", Later()), delivery: delivery)
        talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello")
        await talk.driver.runs()
        talk.connects()
        #expect(talk.originGot().hasSuffix("\r\n\r\nhello"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.isIdle)
    }

    @Test func oneAfterTheOther() async {
        let talk = talk(
            Self.rule("one", Later(request: { request, _ in request.state["n"] = "1" })),
            Self.rule(
                "two", Later(request: { request, _ in request.headers["X-State"] = request.state["n"] ?? "none" })),
            Self.rule("three", when: .test(.header("X-State"), [.exact("none")]), Later()))
        talk.client(get)
        for _ in 0..<3 {
            #expect(talk.driver.calls.count == 1)
            await talk.driver.runs()
        }
        talk.connects()
        #expect(talk.originGot().contains("X-State: none\r\n"), "what one keeps the other does not see")
    }

    // MARK: faults

    @Test("T47: an interceptor that throws fails only its exchange, and is named")
    func throwing() async {
        let talk = talk(Self.rule("slow", Later(request: { _, _ in throw Trouble() })), next)
        for _ in 0..<2 {
            talk.client(get)
            await talk.driver.runs()
            let got = talk.clientGot()
            #expect(
                got.hasPrefix("HTTP/1.1 502 ") && got.contains("interceptor slow aborted: swift code: threw not today"))
            #expect(talk.driver.dials == 0 && talk.driver.isIdle && talk.record.status == 502)
        }
    }

    @Test("T48: an interceptor that never completes ends with 504 at its deadline")
    func neverCompleting() async {
        let talk = talk(Self.rule("slow", deadline: 1_000, Later()))
        talk.client(get)
        talk.driver.waits(999)
        #expect(talk.clientGot() == "" && talk.driver.cancelled == 0)
        talk.driver.waits(1)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 504 ") && got.contains("Proxy-Status: usher; error=proxy_internal_error"))
        #expect(got.contains("interceptor slow (swift: code) came to nothing within 1000 ms"))
        #expect(talk.driver.cancelled == 1 && talk.driver.isIdle && talk.record.status == 504)
        talk.exchange(get, "")
        #expect(talk.driver.calls.count == 1, "the next one is served")
    }

    @Test("T49: a second completion is reported and has no effect")
    func completingTwice() async {
        let code = Later(request: { request, _ in
            request.headers["X-Code"] = try await withCompletion { done in
                done("first")
                done("second")
            }
        })
        let talk = talk(Self.rule("slow", code))
        talk.client(get)
        #expect(await talk.driver.runs() == 1)
        talk.connects()
        #expect(talk.originGot().contains("X-Code: first\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.isIdle)
    }

    @Test func theClientLeaves() {
        for phase in 0..<2 {
            let talk = phase == 0 ? talk(Self.rule("slow", Later())) : talk(Self.answers("slow", Later()))
            talk.client(get)
            if phase == 1 {
                talk.connects()
                talk.origin(ok)
            }
            #expect(talk.driver.calls.count == 1)
            talk.driver.clientIsLost()
            #expect(talk.driver.cancelled == 1 && talk.driver.calls.isEmpty && talk.driver.isOver)
        }
    }

    @Test func aClientThatHasClosedItsSideMayStillListen() async {
        for runs in [true, false] {
            let talk = talk(Self.rule("slow", deadline: 60_000, Later()))
            talk.client(get)
            talk.driver.clientEnds()
            talk.driver.waits(4_999)
            #expect(talk.driver.cancelled == 0)
            if runs {
                await talk.driver.runs()
                talk.connects()
                talk.origin(ok)
                #expect(talk.clientGot().hasSuffix("ok"))
            } else {
                talk.driver.waits(1)
                #expect(talk.driver.cancelled == 1 && talk.driver.calls.isEmpty)
            }
        }
    }

    // MARK: responses

    @Test("A response is held whole, and is delivered as the interceptor changed it", arguments: Delivery.all)
    func aResponseWaits(_ delivery: Delivery) async {
        let code = Later(
            wantsBody: true,
            response: { response, request in
                response.status = 201
                response.headers["X-Seen"] = "\(request.method) \(request.url) \(response.headers["X-Before"] ?? "")"
                response.text = (response.text ?? "") + "!"
            })
        let talk = talk(Self.answers("slow", code), delivery: delivery)
        talk.client(get)
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == "" && talk.driver.releases == [true], "the connection is free meanwhile")
        await talk.driver.runs()
        #expect(
            talk.clientGot() == "HTTP/1.1 201 Created\r\nX-Before: 1\r\nX-Seen: GET http://a.test/ 1\r\nX-After: 1\r\n"
                + "Via: 1.1 usher\r\nContent-Length: 3\r\n\r\nok!")
        #expect(talk.driver.isIdle && talk.record.status == 201)
    }

    @Test func aResponseThatNobodyChanges() async {
        for (request, answer, got) in [
            (get, ok, okForClient),
            (
                "HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nVia: 1.1 usher\r\n\r\n"
            ),
        ] {
            let edit = SwiftEdit("code", Later(), in: .response).map { [$0] } ?? []
            let talk = talk(Rule(name: "slow", response: edit))
            talk.exchange(request, answer)
            await talk.driver.runs()
            #expect(talk.clientGot() == got && talk.driver.isIdle)
        }
    }

    @Test func aResponseThatIsTooLargeToBeHeld() {
        let body = String(repeating: "x", count: 100)
        for handling in [BodyPolicy.Handling.pass, .refuse] {
            var rule = Self.answers("slow", Later())
            rule.bodies.overLimit = handling
            for head in ["Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n64\r\n"] {
                let talk = talk(rule) { $0.limits.bufferedBody = 10 }
                talk.exchange(get, "HTTP/1.1 200 OK\r\n\(head)\(body)")
                #expect(talk.driver.calls.isEmpty)
                let got = talk.clientGot()
                #expect(got.hasPrefix(handling == .pass ? "HTTP/1.1 200 OK" : "HTTP/1.1 502 "), "\(got)")
            }
        }
    }

    @Test func itMayAnswerAbortAndThrow() async {
        for (error, status, words) in [
            (Interceptors.Verdict.respond(Response(status: 418, body: Array("tea".utf8))), 418, "tea"),
            (Interceptors.Verdict.abort("never"), 502, "interceptor slow aborted: swift code: never"),
            (Trouble(), 502, "swift code: threw not today"),
        ] as [(any Error, Int, String)] {
            let talk = talk(Self.answers("slow", Later(response: { _, _ in throw error })))
            talk.exchange(get, ok)
            await talk.driver.runs()
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 \(status) ") && got.contains(words) && talk.driver.isIdle, "\(got)")
        }
        let never = talk(Self.answers("slow", Later()))
        never.exchange(get, ok)
        never.driver.waits(1_000)
        #expect(never.clientGot().hasPrefix("HTTP/1.1 504 ") && never.driver.cancelled == 1)
    }

    @Test("T17: a retry starts from the client's request, or from the given one")
    func anotherAttempt() async {
        let code = Later(response: { _, request in
            guard request.state["again"] == nil else { return }
            var changed = request
            changed.state["again"] = "1"
            changed.headers["Authorization"] = "Bearer 2"
            throw Interceptors.Verdict.retry(changed, after: .milliseconds(50))
        })
        var rule = Self.answers("slow", code)
        rule.request = [AddHeader([.init("X-Tag", "a")])]
        let talk = talk(rule)
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello")
        talk.connects()
        #expect(!talk.originGot().contains("Authorization"))
        talk.origin("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        await talk.driver.runs()
        talk.driver.waits(50)
        if talk.driver.dialing != nil { talk.connects() }
        let sent = talk.originGot()
        #expect(sent.contains("Authorization: Bearer 2\r\n") && sent.hasSuffix("hello"))
        #expect(sent.ranges(of: "X-Tag").count == 1, "edits begin anew: \(sent)")
        talk.origin(ok)
        await talk.driver.runs()
        #expect(talk.clientGot().hasSuffix("ok") && talk.driver.isIdle && talk.record.attempts == 2)
    }

    @Test("T05: an interceptor that always retries has the limit of all")
    func withoutEnd() async {
        let talk = talk(Self.answers("slow", Later(response: { _, _ in throw Interceptors.Verdict.retry() })))
        talk.client(get)
        for _ in 0..<11 {
            if talk.driver.dialing != nil { talk.connects() }
            talk.origin(ok)
            await talk.driver.runs()
            talk.driver.waits(1)
        }
        #expect(talk.record.attempts == 11 && talk.clientGot().hasSuffix("\r\n\r\nok") && talk.driver.isIdle)
    }

    // MARK: Usher's own calls

    @Test("T44: Usher's own calls pass the interceptor, under their own Action")
    func callsToAM() async {
        var settings = stepUpSettings()
        let request = Later(request: { request, action in
            request.headers["X-Action"] = "\(action.type) \(action.payload?.type ?? "-")"
        })
        let response = Later(wantsBody: true, response: { response, _ in response.headers["X-Seen"] = "1" })
        settings.rules = [
            Self.rule("slow", when: .test(.host, [.exact("am.test")]), request),
            Self.answers("slower", response),
        ]
        let talk = Conversation(settings)
        talk.client(SteppingUp.get)
        talk.connects()
        talk.origin(SteppingUp.refused())
        #expect(talk.driver.calls.count == 1 && talk.driver.dialing == nil)
        await talk.driver.runs()
        talk.connects()
        let call = talk.originGot()
        #expect(call.contains("X-Action: START_AUTHENTICATE composite_advice\r\n"), "\(call)")
        talk.origin(SteppingUp.success)
        await talk.driver.runs()
        talk.connects()
        talk.origin(ok)
        await talk.driver.runs()
        #expect(talk.clientGot().hasSuffix("ok") && talk.driver.isIdle)
    }

    @Test func aCallThatComesToNothing() async {
        for fails in [true, false] {
            var settings = stepUpSettings()
            settings.rules = [
                Self.rule("slow", when: .test(.host, [.exact("am.test")]), Later(request: { _, _ in throw Trouble() }))
            ]
            let talk = Conversation(settings)
            talk.client(SteppingUp.get)
            talk.connects()
            talk.origin(SteppingUp.refused())
            if fails { await talk.driver.runs() } else { talk.driver.waits(1_000) }
            #expect(talk.clientGot() == SteppingUp.original() && talk.driver.isIdle, "\(talk.notes)")
        }
    }

    // MARK: without a network

    @Test func aDryRunWaitsForIt() {
        let code = Later(request: { request, _ in request.headers["X-Code"] = "1" })
        let rules = settings { $0.rules = [Self.rule("slow", code)] }
        let without = DryRun(.bytes(Array(get.utf8)), rules)
        guard case .answered(504) = without.outcome else {
            Issue.record("\(without.outcome)")
            return
        }
        #expect(without.milliseconds == 1_000)
        let done = DryRun(
            .bytes(Array(get.utf8)), rules,
            perform: { _ in .request(Request(url: "http://a.test/", headers: ["Host": "a.test", "X-Code": "1"])) })
        guard case .sent(let head, _) = done.outcome else {
            Issue.record("\(done.outcome)")
            return
        }
        #expect(head.fields["X-Code"] == "1" && done.interceptors?.first?.matched == true)
        #expect(done.phases.count == 1 && done.phases[0].notes.count == 2, "\(done.phases)")
    }
}
