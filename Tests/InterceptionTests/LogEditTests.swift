import Formats
import Testing

@testable import Interception

/// Lines that interceptors want in the log: what stands in them, and where it came from.
@Suite struct LogEditTests {
    private static func log(_ text: String, in phase: EditPhase = .request) throws -> Log {
        try made(Log.self, decoded(text), in: phase)
    }

    @Test func valuesKeepTheirOrigin() throws {
        let plan = Plan(rules: [
            rule(
                "a",
                request: [
                    try Self.log("plain"),
                    try made(
                        SetState.self,
                        decoded(["id": decoded("${request.header.A}/${request.query.in}"), "own": decoded("x")])),
                    try Self.log("${state.id} ${state.own} ${action} ${request.query.none}"),
                ],
                response: [try Self.log("${response.status} ${state.id} ${response.json./a/b}", in: .response)])
        ])
        var context = EditContext(Classification(action: .logout, evidence: ""))
        let asked = try plan.applied(try request("GET http://a.example/?in=1\nA: b"), &context)
        let origins = [ValueOrigin.header("A"), .query("in")]
        #expect(
            asked.outcome.logged == [
                LoggedText(interceptor: "a", parts: [.text("plain")]),
                LoggedText(
                    interceptor: "a",
                    parts: [
                        .value("b/1", origins), .text(" "), .value("x", []), .text(" "), .value("LOGOUT", []),
                        .text(" "),
                        .absent,
                    ]),
            ])
        #expect(asked.outcome.warnings.isEmpty)
        let json = "HTTP/1.1 200 OK\nContent-Type: application/json"
        let answered = try plan.applied(try response(json), body: #"{"a":{"b":"c"}}"#, to: asked.head, &context)
        #expect(
            answered.outcome.logged.first?.parts == [
                .value("200", []), .text(" "), .value("b/1", origins), .text(" "),
                .value("c", [.member(try #require(.init("/a/b")))]),
            ])
    }

    @Test func whereNoAnswerCame() throws {
        let plan = Plan(rules: [Rule(name: "a", error: [try Self.log("lost ${request.header.A}")])])
        var context = EditContext()
        let outcome = plan.applyError(.terminated, try request("GET http://a.example/\nA: b"), &context)
        #expect(outcome.logged == [LoggedText(interceptor: "a", parts: [.text("lost "), .value("b", [.header("A")])])])
    }
}
