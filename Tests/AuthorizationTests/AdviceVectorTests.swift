import Authorization
import HTTPCodec
import Testing

@Suite("Advice vectors")
struct AdviceVectorTests {
    @Test func everyVectorReadsAsExpected() throws {
        let file = try vectors("advice.json")
        let cases = try #require(file["vectors"]?.items)
        #expect(cases.count >= 52)
        for vector in cases {
            let id = Comment(rawValue: vector["id"]?.text ?? "")
            let response = try #require(vector["response"], id)
            let status = try #require(response["status"]?.integer, id)
            let table = fields(
                response["headers"]?.items?.map { ($0[0]?.text ?? "", $0[1]?.text ?? "") } ?? [])
            let body = Array((response["body"]?.text ?? "").utf8)
            let advice = AdviceReader.read(status: status, fields: table, body: body, server: am)
            #expect(advice == AdviceReader.read(status: status, fields: table, body: body), id)

            guard let expected = vector["expect"]?["advice"], expected != .null else {
                #expect(advice == nil, id)
                continue
            }
            let found = try #require(advice, id)
            #expect(found.source.rawValue == expected["source"]?.text, id)
            #expect(found.realm == expected["realm"]?.text, id)
            #expect(found.amURI == expected["amUri"]?.text, id)
            #expect(found.conditions == conditions(expected["advices"]), id)
            #expect(found.transactionId == expected["txId"]?.text, id)
            #expect(found.xml == expected["xml"]?.text, id)
            #expect(found.refusal == nil, id)
            if found.source == .body { #expect(AdviceReader.needsBody(status: status, fields: table), id) }
            try checkCall(vector["expect"]?["authenticate"], found, id)
        }
    }

    /// The first authenticate call of the vectors that tell it.
    private func checkCall(_ expected: JSONValue?, _ advice: Advice, _ id: Comment) throws {
        var stepUp = StepUp(policy: policy(), advice: advice, session: "SESSION-A")
        let call = try #require(stepUp.begin().call, id)
        #expect(call.head.host == "am.example.test", id)
        guard let expected else { return }
        #expect(call.head.methodText == expected["method"]?.text, id)
        #expect(PercentCoding.decode(call.head.url) == PercentCoding.decode(expected["url"]?.text ?? ""), id)
        #expect(call.text == expected["body"]?.text, id)
        for line in lines(expected["headers"]) { #expect(call.head.fields[line.0] == line.1, id) }
        #expect(call.head.fields.count == lines(expected["headers"]).count + 1, id)
        #expect(call.head.fields["Content-Length"] == nil, id)
    }
}
