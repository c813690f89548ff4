import Formats
import HTTPCodec
import Interception
import ProxyCore
import Testing

/// Interceptors that make an advice of an answer, before a step-up looks at it (`before: step_up`).
@Suite struct PreparationTests {
    private typealias Up = SteppingUp

    private static func settings(_ rules: [Rule], limits: Int = 1 << 20) -> Settings {
        var settings = stepUpSettings()
        settings.rules = rules
        settings.limits.bufferedBody = limits
        return settings
    }

    private static func rule(when: Condition, _ edits: [any ResponseEdit]) -> Rule {
        var rule = Rule(name: "vendor", when: when, response: edits)
        rule.comesBeforeStepUp = true
        return rule
    }

    private static let makesAdvice: [any ResponseEdit] = [
        SetStatus(401), SetHeader([Pair("WWW-Authenticate", Up.advice(Up.transaction))]),
    ]
    private static let approval = Result {
        Condition.test(.responseJSON(try #require(JSONPointer("/error"))), [.exact("approval")])
    }
    private static let vendor = Up.json(#"{"error":"approval"}"#, status: "403 Forbidden")

    private static func expectStepUp(_ talk: Conversation) {
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "am.test", port: 80), "\(talk.notes)")
        talk.connects()
        talk.origin(Up.success)
        #expect(talk.originGot().contains("GET /api/cart?_txid=t-1 HTTP/1.1\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.record.attempts == 2)
    }

    @Test("A body becomes an advice", arguments: Delivery.all)
    func ofABody(_ delivery: Delivery) throws {
        let rules = [Self.rule(when: try Self.approval.get(), Self.makesAdvice)]
        let talk = Conversation(Self.settings(rules), delivery: delivery)
        talk.client(Up.get)
        talk.connects()
        talk.origin(Self.vendor)
        Self.expectStepUp(talk)
        #expect(talk.noted("vendor: set status 401"))
    }

    @Test("A head becomes an advice without a wait for the body", arguments: Delivery.all)
    func ofAHead(_ delivery: Delivery) {
        let rules = [Self.rule(when: .test(.status, [.exact("451")]), Self.makesAdvice)]
        let talk = Conversation(Self.settings(rules), delivery: delivery)
        talk.client(Up.get)
        talk.connects()
        talk.origin("HTTP/1.1 451 No\r\nContent-Length: 2\r\n\r\nno")
        Self.expectStepUp(talk)
    }

    @Test("Without `before: step_up`, the edit comes too late for the step-up")
    func otherwise() throws {
        var late = Self.rule(when: try Self.approval.get(), Self.makesAdvice)
        late.comesBeforeStepUp = false
        let talk = Conversation(Self.settings([late]))
        talk.client(Up.get)
        talk.connects()
        talk.origin(Self.vendor)
        #expect(talk.driver.dialing == nil && talk.clientGot().hasPrefix("HTTP/1.1 401 "))
    }

    @Test("A response without a match is forwarded, and later interceptors apply")
    func another() throws {
        let rules = [
            Self.rule(when: try Self.approval.get(), Self.makesAdvice),
            Rule(name: "seen", response: [SetHeader([Pair("X-Seen", "1")])]),
        ]
        let body = #"{"error":"closed"}"#
        let talk = Conversation(Self.settings(rules))
        talk.client(Up.get)
        talk.connects()
        talk.origin(Up.json(body, status: "403 Forbidden"))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("X-Seen: 1\r\n") && got.hasSuffix(body))
        #expect(talk.driver.isIdle && talk.driver.releases == [true])
    }

    @Test("Without a step-up, the edits still apply, and apply first")
    func unprotected() throws {
        let rules = [
            Rule(name: "late", when: .test(.status, [.exact("401")]), response: [SetHeader([Pair("X-Late", "1")])]),
            Self.rule(
                when: try Self.approval.get(),
                [SetStatus(401), SetBody(Array("new".utf8), contentType: "text/plain")]),
        ]
        let talk = Conversation(Self.settings(rules))
        talk.exchange(get, Self.vendor)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 401 ") && got.contains("X-Late: 1\r\n") && got.hasSuffix("\r\n\r\nnew"))
        #expect(got.contains("Content-Length: 3\r\n") && got.contains("Content-Type: text/plain\r\n"))
    }

    @Test("A body that is too large to buffer is forwarded", arguments: Delivery.all)
    func tooLarge(_ delivery: Delivery) throws {
        let rules = [Self.rule(when: try Self.approval.get(), Self.makesAdvice)]
        let body = #"{"error":"approval","more":""# + String(repeating: "x", count: 5000) + "\"}"
        for head in [
            "HTTP/1.1 403 No\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            "HTTP/1.1 403 No\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n",
        ] {
            let talk = Conversation(Self.settings(rules, limits: 1024), delivery: delivery)
            talk.client(Up.get)
            talk.connects()
            talk.origin(head)
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("xxxx\"}"), "\(talk.notes)")
            #expect(talk.noted("larger than the 1024 bytes"))
        }
    }

    @Test("A respond or an abort is final")
    func verdicts() {
        for (edit, start) in [
            (Respond(DirectResponse(status: 418)), "HTTP/1.1 418 "), (Abort("no"), "HTTP/1.1 502 "),
        ] as [(any ResponseEdit, String)] {
            let rules = [
                Self.rule(when: .test(.status, [.exact("401")]), [edit]),
                Rule(name: "late", response: [SetHeader([Pair("X-Late", "1")])]),
            ]
            let talk = Conversation(Self.settings(rules))
            talk.client(Up.get)
            talk.connects()
            talk.origin(Up.refused())
            let got = talk.clientGot()
            #expect(got.hasPrefix(start) && !got.contains("X-Late") && talk.driver.dialing == nil)
        }
    }

    @Test("After a failed step-up, the client gets the edited response")
    func failing() throws {
        let rules = [Self.rule(when: try Self.approval.get(), Self.makesAdvice)]
        let talk = Conversation(Self.settings(rules))
        talk.client(Up.get)
        talk.connects()
        talk.origin(Self.vendor)
        talk.connects()
        talk.origin("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 401 ") && got.hasSuffix(#"{"error":"approval"}"#), "\(talk.notes)")
    }

    @Test("The edits do not apply to Usher's own calls")
    func calls() throws {
        let rules = [Self.rule(when: .test(.status, [.exact("200")]), [SetStatus(500)])]
        let talk = asked(Self.settings(rules))
        talk.origin(Up.success)
        #expect(talk.originGot().contains("_txid=t-1"))
    }
}
