import Formats
import HTTPCodec
import Testing

@testable import Interception

/// Conditions on bodies in the response phase: of the response, and of the request as it was sent.
struct ResponseBodyConditionTests {
    private static func responseJSON(_ pointer: String, _ value: String) throws -> Condition {
        .test(.responseJSON(try #require(JSONPointer(pointer))), [.exact(value)])
    }

    /// Whether a rule applies to an answer, and whether its body had to be here for that.
    private static func run(
        _ condition: Condition, answer: String = #"{"error": "busy"}"#, sent: String = #"{"type": "payment"}"#,
        type: String = "application/json"
    ) throws -> (holds: Bool, isKept: Bool) {
        let plan = Plan(rules: [rule(when: condition, response: [SetHeader([Pair("X", "1")])])])
        let asked = try request(BodyConditionTests.typed)
        var head = try response("HTTP/1.1 200 OK\nContent-Type: \(type)")
        guard let first = plan.firstResponseMatch(head, request: asked, nil) else { return (false, false) }
        var context = EditContext(sentBody: .whole(Array(sent.utf8)))
        guard plan.needsResponseBody(from: first, head, request: asked, &context) else {
            let done = plan.applyResponse(from: first, to: &head, request: asked, &context)
            #expect(done.warnings.isEmpty)
            return (head.fields["X"] != nil, false)
        }
        let done = plan.applyResponse(
            from: first, to: &head, body: .whole(Array(answer.utf8)), request: asked, &context)
        #expect(done.outcome.warnings.isEmpty && done.body == .asItCame)
        return (head.fields["X"] != nil, true)
    }

    @Test func ofTheResponse() throws {
        let busy = try Self.responseJSON("/error", "busy")
        #expect(try Self.run(busy) == (true, true))
        #expect(try Self.run(.not(busy)) == (false, true))
        #expect(try Self.run(busy, answer: #"{"error": "other"}"#) == (false, true))
        #expect(try Self.run(.all([busy, .test(.status, [.exact("200")])])) == (true, true))
        #expect(try Self.run(.all([busy, .test(.status, [.exact("500")])])) == (false, false))
        #expect(try Self.run(.any([busy, .test(.status, [.exact("200")])])) == (true, false))
        #expect(try Self.run(busy, type: "image/png") == (false, false))
        #expect(try Self.run(busy, type: "text/event-stream") == (false, false), "which may never end")
    }

    @Test func ofTheRequestThatWasSent() throws {
        let payment = try json("/type", .exact("payment"))
        #expect(try Self.run(payment) == (true, false))
        #expect(try Self.run(payment, sent: "{}") == (false, false))
        #expect(try Self.run(.not(payment), sent: "{}") == (true, false))
        let both = Condition.all([payment, try Self.responseJSON("/error", "busy")])
        #expect(try Self.run(both) == (true, true))
        #expect(try Self.run(both, sent: "{}") == (false, false), "the request's body has decided")
    }

    @Test func neverInTheRequestPhase() throws {
        let plan = Plan(rules: [
            rule(when: try Self.responseJSON("/a", "b"), request: [SetHeader([Pair("X", "1")])])
        ])
        #expect(plan.firstRequestMatch(try request(BodyConditionTests.typed), nil) == nil)
    }

    @Test func warnedOfOnceInBothPhases() throws {
        let condition = try json("/type", .exact("payment"))
        let edit = SetHeader([Pair("X", "1")])
        let plan = Plan(rules: [rule(when: condition, request: [edit], response: [edit])])
        var head = try request(BodyConditionTests.typed)
        var answer = try response("HTTP/1.1 200 OK")
        var context = EditContext(sentBody: .overLimit)
        let first = plan.applyRequest(from: 0, to: &head, body: .overLimit, &context).outcome
        #expect(first.warnings.count == 1)
        for _ in 0..<2 {
            #expect(!plan.needsResponseBody(from: 0, answer, request: head, &context))
            let second = plan.applyResponse(from: 0, to: &answer, request: head, &context)
            #expect(second.warnings.isEmpty)
        }
    }
}
