import Formats
import HTTPCodec
import Testing

@testable import Interception

/// What rules need of bodies, as it is known before any message comes.
struct BodyNeedsTests {
    private static func needs(_ rules: Rule...) -> BodyNeeds { Plan(rules: rules).bodyNeeds }

    @Test("Each part of a rule needs what it looks at, and no more")
    func ofRules() throws {
        let body = try json("/a", .glob("*"))
        let answered = Condition.test(.responseJSON(try #require(JSONPointer("/a"))), [.glob("*")])
        let header = SetHeader([Pair("X", "1")])
        let value = try made(SetHeader.self, decoded(["X": decoded("${request.json./a}")]))
        let late = try made(SetHeader.self, decoded(["X": decoded("${request.json./a}")]), in: .response)
        let answer = try made(SetHeader.self, decoded(["X": decoded("${response.json./a}")]), in: .response)
        let respond = Respond(DirectResponse(status: 418))
        let status = Condition.test(.status, [.exact("200")])
        let rows: [(Rule, BodyNeeds)] = [
            (rule(request: [header], response: [header]), []),
            (rule(request: [amount()]), .requestEdits), (rule(response: [amount()]), .responseEdits),
            (rule(request: [value]), .requestEdits), (rule(response: [late]), .sentBody),
            (rule(response: [answer]), .responseEdits),
            (rule(when: body, request: [header]), .requestCondition),
            (rule(when: body, response: [header]), .requestCondition),
            (rule(when: answered, response: [header]), .responseCondition),
            (rule(when: .not(.any([answered, body])), response: [header]), [.requestCondition, .responseCondition]),
            (rule(request: [Code.request { _ in }]), []),
            (rule(request: [Code.request(wantsBody: true) { _ in }]), .requestEdits),
            (rule(response: [Code.response { _ in }]), .retry),
            (rule(response: [Code.response(wantsBody: true) { _ in }]), [.responseEdits, .retry]),
            (rule(request: [respond]), .ending), (rule(when: status, request: [respond]), []),
            (rule(response: [Retry(RetryPolicy())]), .retry), (rule(response: [Retry(nil)]), []),
        ]
        for (place, (rule, needs)) in rows.enumerated() { #expect(Self.needs(rule) == needs, "row \(place)") }
    }

    @Test("A plan needs what any of its rules needs")
    func ofPlans() {
        #expect(Self.needs() == [])
        #expect(
            Self.needs(rule("a", request: [amount()]), rule("b", response: [amount()])) == [
                .requestEdits, .responseEdits,
            ])
        let plan = Plan(rules: [rule(response: [Retry(RetryPolicy())])])
        #expect(plan.keepsRequestBodies && !plan.readsRequestBodies && !plan.readsResponseBodies)
    }

    @Test("The body of a message is needed where an edit concerns its type, or takes a value from it")
    func ofMessages() throws {
        func fields(_ type: String?) throws -> FieldTable {
            try request("POST http://a.test/" + (type.map { "\nContent-Type: \($0)" } ?? "")).fields
        }
        let edits = PhaseEdits<any RequestEdit>("a", [amount()], [amount()])
        #expect(try edits.needsBody(fields("application/json"), takesValues: false))
        #expect(try !edits.needsBody(fields("image/png"), takesValues: true))
        let none = PhaseEdits<any RequestEdit>("a", [], [])
        #expect(try none.needsBody(fields("application/json"), takesValues: true))
        #expect(try !none.needsBody(fields("application/json"), takesValues: false))
    }
}
