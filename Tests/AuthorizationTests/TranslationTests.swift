import Authorization
import HTTPCodec
import Interception
import Testing

@Suite("An advice in another form")
struct TranslationTests {
    private static let url = "https://shop.example.test/api/a?b=c%20d"
    private static let conditions: [Advice.Condition] = [
        .init("TransactionConditionAdvice", ["t-1"]),
        .init("AuthenticateToServiceConditionAdvice", ["/alpha:Step<&\">Up"]),
    ]

    private func written(_ form: Advice.Source, _ conditions: [Advice.Condition] = conditions) throws -> WrittenAdvice {
        let advice = Advice(source: .header, realm: "/al\"pha", conditions: conditions)
        return try WrittenAdvice(
            advice, as: form, realm: "/al\"pha", about: request("GET", Self.url), policy())
    }

    /// What is written in a form is read as that form, and means the same.
    @Test(arguments: Advice.Source.allCases) func isReadAgain(_ form: Advice.Source) throws {
        let written = try self.written(form)
        let head = written.replacing(ResponseHead(status: 401, reason: ""))
        let read = AdviceReader(everyForm).read(status: head.status, fields: head.fields, body: written.body)
        #expect(read?.source == form && read?.conditions == Self.conditions, "\(head.fields.lines)")
        if form != .body { #expect(read?.realm == "/al\"pha" && read?.amURI?.hasPrefix(am.url) == true) }
        #expect(head.fields["Content-Length"] == String(written.body.count))
    }

    @Test func whereARedirectLeadsBack() throws {
        func back(_ conditions: [Advice.Condition]) throws -> String? {
            let location = try written(.redirect, conditions).fields.first { $0.name == "Location" }?.value
            return location.flatMap { QueryText($0.split(separator: "?", maxSplits: 1)[1])["goto"] }
        }
        #expect(try back(Self.conditions) == Self.url + "&_txid=t-1")
        #expect(try back([.init("AuthLevelConditionAdvice", ["7"])]) == Self.url)
    }

    @Test func whatStaysOfTheAnswer() throws {
        var original = ResponseHead(status: 307, reason: "Temporary Redirect")
        for line in [
            ("Location", "https://am.example.test/am/?x"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Own", "y"),
            ("Content-Type", "text/html"), ("Content-Length", "7"), ("ETag", "\"e\""), ("Vary", "Origin"),
            ("Access-Control-Allow-Origin", "https://app.test"),
        ] { original.fields.add(line.0, line.1) }
        let head = try written(.header).replacing(original)
        #expect(head.fields.values(named: "Set-Cookie") == ["a=1", "b=2"] && head.fields["X-Own"] == "y")
        #expect(head.fields["Location"] == nil && head.fields["ETag"] == nil && head.fields["Content-Type"] == nil)
        #expect(head.fields["Access-Control-Expose-Headers"] == "WWW-Authenticate" && head.status == 401)
    }

    // MARK: the way back

    private func handed(
        _ url: String, _ lines: [(String, String)] = [], body: String? = "", _ resource: AuthorizationPolicy.Resource
    ) throws -> Replay.Request? {
        try policy().handedOn(request("POST", url, lines), body: body.map { Array($0.utf8) }, to: resource)
    }

    @Test func intoWhatTheResourceExpects() throws {
        let gateway = AuthorizationPolicy.Resource(url: "*")
        let service = AuthorizationPolicy.Resource(url: "*", advice: .body)
        let own = AuthorizationPolicy.Resource(url: "*", present: .header("X-Mine"))
        let base = "https://shop.example.test/a?b=c%20d"
        #expect(try handed(base, [("X-TxID", "t/1")], gateway)?.head.url == "\(base)&_txid=t%2F1")
        #expect(try handed(base, [("X-TxID", "t/1")], gateway)?.head.fields["X-TxID"] == nil)
        let shown = try handed("\(base)&_txid=t%2F1", service)
        #expect(shown?.head.url == base && shown?.head.fields["X-TxID"] == "t/1")
        #expect(try handed("\(base)&_txid=t%2F1", own)?.head.fields["X-Mine"] == "t/1")
        // what is shown as it is expected, not shown, or shown twice stays as it is
        #expect(try handed("\(base)&_txid=t", gateway) == nil && handed(base, gateway) == nil)
        #expect(try handed("\(base)&_txid=t", [("X-TxID", "u")], gateway) == nil)
        #expect(try handed("\(base)&_txid=t&_txid=u", service) == nil && handed("\(base)&_txid=", service) == nil)
    }

    private func handed(_ url: String, _ resource: AuthorizationPolicy.Resource) throws -> Replay.Request? {
        try handed(url, [], resource)
    }

    @Test func intoTheEnvironmentOfAQuestion() throws {
        let url = "https://am.example.test/am/json/policies?_action=evaluate"
        let resource = AuthorizationPolicy.Resource(url: "*")
        let body = "{ \"resources\": [\"r\"],\n  \"environment\": { \"TxId\": [\"old\"], \"a\": [\"b\"] } }"
        for (asked, lines) in [(url, [("X-TxID", "t")]), ("\(url)&_txid=t", [])] {
            let handed = try #require(try self.handed(asked, lines, body: body, resource))
            #expect(handed.head.url == url && handed.head.fields["X-TxID"] == nil)
            #expect(String(decoding: handed.body, as: UTF8.self) == body.replacing("\"old\"", with: "\"t\""))
        }
        #expect(throws: Replay.Refusal.self) { try handed(url, [("X-TxID", "t")], body: nil, resource) }
        #expect(throws: Replay.Refusal.self) { try handed(url, [("X-TxID", "t")], body: "[]", resource) }
    }
}
