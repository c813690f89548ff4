import Authorization
import Formats
import HTTPCodec
import Interception
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
            let reader = AdviceReader(everyForm)
            let advice = reader.read(status: status, fields: table, body: body)

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
            if found.source == .body { #expect(reader.needsBody(status: status, fields: table), id) }
            try checkJudgement(file["request"], found, status, id)
            try checkCall(vector["expect"]?["authenticate"], found, id)
        }
    }

    /// Every advice that a resource may give counts, and may be acted on where the resource says so.
    private func checkJudgement(_ original: JSONValue?, _ advice: Advice, _ status: Int, _ id: Comment) throws {
        let head = try request(
            original?["method"]?.text ?? "", original?["url"]?.text ?? "", lines(original?["headers"]))
        let asking = AuthorizationPolicy.Resource(url: "*", advice: everyForm, trees: [TreePattern("*")])
        let standard = AuthorizationPolicy.Resource(url: "*")
        #expect(policy().forms(for: head, sent: head, asking).contains(.init(advice.source)), id)
        #expect(
            policy().forms(for: head, sent: head, standard).contains(.init(advice.source)) == (advice.source != .body),
            id)
        let resource = advice.source == .body ? asking : standard
        var policy = policy()
        #expect(policy.doubt(of: advice, in: exchange(head, resource, status: status)) == nil, id)
        if let realm = advice.realm { policy.server.realms.append(realm) }
        #expect(policy.judgement(of: advice, in: exchange(head, resource, status: status)).refusal == nil, id)
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
