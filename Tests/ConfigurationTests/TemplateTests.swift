import HTTPCodec
import Interception
import ProxyCore
import Testing

@testable import Configuration

/// Values with `${…}` in them as the configuration writes them.
@Suite struct TemplateTests {
    private static let environment = ["TENANT": "acme ${uuid} \"q\"", "SHOWN": "x"]

    private static func snapshot(_ edits: String) throws -> Snapshot {
        try #require(
            try? load(
                "version: 1\ninterceptors: [{ name: a, request: \(edits) }]", environment: environment
            ).get())
    }

    /// The request as the edits leave it.
    private static func edited(_ edits: String, _ url: String = "http://a.example/?in=w%20x") throws -> (
        head: RequestHead, body: String, warnings: [RuleNote]
    ) {
        let plan = Plan(rules: try snapshot(edits).settings.rules)
        var head = try RequestHead(method: "POST", url: url)
        var context = EditContext(time: 0)
        let done = plan.applyRequest(from: 0, to: &head, body: .whole(Array("{}".utf8)), &context)
        let body = String(decoding: done.body.bytes(insteadOf: Array("{}".utf8)), as: UTF8.self)
        return (head, body, done.outcome.warnings)
    }

    @Test func aReferenceIsFilledInOnceAndAPlaceForEachExchange() throws {
        let done = try Self.edited(
            """
            [{ set_header: { X: "${env.TENANT} ${request.query.in} $${uuid} $${request.query.in}" } }]
            """)
        #expect(done.head.fields["X"] == "acme ${uuid} \"q\" w x ${uuid} ${request.query.in}")
        #expect(done.warnings == [])
        let mixed = try Self.snapshot("[{ set_header: { X: \"${env.TENANT}${now}\" } }]")
        #expect(mixed.settings.disclosure.secrets.count == 1)
    }

    @Test func valuesWithoutPlacesAreWhatTheyWere() throws {
        for edits in [
            "{ set_header: { X: \"$${now} ${env.TENANT}\" } }", "{ set_json: { /a: \"$${now} ${env.TENANT}\" } }",
        ] {
            let rules = try Self.snapshot("[\(edits)]").settings.rules
            #expect(rules.flatMap(\.request).flatMap(\.templates).isEmpty)
        }
        #expect(try Self.edited("[{ set_json: { /a: \"$${now}\" } }]").body == #"{"a":"${now}"}"#)
    }

    @Test func jsonIsOneTextWithPlacesInItsStrings() throws {
        let done = try Self.edited(
            """
            [{ set_json: { /a: { "k\\"${now}": ["<${request.query.in}>\\n", 1.50, true, null, {}, [], "${env.TENANT}"] } } }]
            """)
        #expect(done.body == #"{"a":{"k\"${now}":["<w x>\n",1.50,true,null,{},[],"acme ${uuid} \"q\""]}}"#)
        #expect(try Self.edited("[{ set_body: { json: [\"${now}\", 1] } }]").body == #"["1970-01-01T00:00:00Z",1]"#)
        #expect(try Self.edited("[{ set_body: { text: \"${now}\" } }]").body == "1970-01-01T00:00:00Z")
    }

    @Test func formatsLeaveRoomForPlaces() throws {
        for edits in [
            "set_path: \"/a/${uuid}\"", "set_url: \"http://${request.header.H}/${now}?a=${uuid}\"",
            "set_host: \"${request.header.H}\"", "set_host: \"${request.header.H}:${request.header.P}\"",
            "set_host: \"a.example:${request.header.P}\"", "set_cookie: { name: a, value: \"${uuid}\" }",
            "set_state: { a: \"${uuid}\", b: null, c: }",
        ] {
            #expect(throws: Never.self, "\(edits)") { try Self.snapshot("[{ \(edits) }]") }
        }
        let done = try Self.edited(
            "[{ set_state: { a: x, b: \"${request.query.in}\" } }, { set_state: { a: null } }, { set_header: { A: \"${state.a}\", B: \"${state.b}\" } }]"
        )
        #expect(done.head.fields["A"] == nil && done.head.fields["B"] == "w x")
    }

    @Test func respondTakesPlacesInHeadersAndBody() throws {
        let rules = try Self.snapshot(
            "[{ respond: { status: 201, headers: { A: \"${request.query.in}\" }, json: { a: \"${request.query.in}\" } } }]"
        ).settings.rules
        var head = try RequestHead(method: "GET", url: "http://a.example/?in=w%22x")
        var context = EditContext()
        let answer = DirectResponse(
            status: 201, headers: [Pair("A", "w\"x"), Pair("Content-Type", "application/json")],
            body: Array(#"{"a":"w\"x"}"#.utf8))
        #expect(
            Plan(rules: rules).applyRequest(from: 0, to: &head, &context).verdict
                == .respond(answer, interceptor: "a"))
    }
}
