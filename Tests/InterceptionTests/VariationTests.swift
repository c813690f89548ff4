import Formats
import HTTPCodec
import Testing

@testable import Interception

/// Unusual forms of AM's responses say the same.
@Suite("Variations")
struct VariationTests {
    private static let seeds = 0..<200
    private static let advices = #"{"AuthenticateToServiceConditionAdvice":["StepUp"]}"#
    private static let step =
        #"{"authId":"a/b","n":1.50,"callbacks":[{"type":"NameCallback","input":[{"name":"IDToken1","value":""}]}]}"#

    private func plan(_ seed: Int, when: Condition = .always, _ sampling: Sampling = Sampling()) -> Plan {
        var rule = Rule(name: "vary", when: when, sampling: sampling)
        rule.equip(with: Vary(seed: seed))
        return Plan(rules: [rule])
    }

    private func challenged(_ seed: Int) throws -> ResponseHead {
        let text = Base64.encode(Array(Self.advices.utf8))
        let head = try response(
            "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: SSOADVICE realm=\"/bravo\",advices=\"\(text)\",am_uri=\"https://am.test/am/\""
        )
        return plan(seed).response(head, to: try request("GET https://shop.test/pay")).head
    }

    private func answered(_ seed: Int, _ body: String = Self.step) throws -> (
        head: ResponseHead, body: String, chunk: Int?
    ) {
        var context = EditContext()
        let head = try response("HTTP/1.1 200 OK\nContent-Type: application/json\nX-Other: a")
        let made = try plan(seed).applied(head, body: body, to: try request("GET https://am.test/"), &context)
        return (made.head, made.body, made.outcome.chunk)
    }

    @Test func aSeedSelectsTheSameFormsEachTime() throws {
        for seed in Self.seeds {
            #expect(try challenged(seed).fields.lines.map(\.value) == challenged(seed).fields.lines.map(\.value))
            #expect(try answered(seed).body == answered(seed).body)
            #expect(Variation(seed: seed).words == Variation(seed: seed).words)
        }
        let all = Set(Self.seeds.flatMap { Variation(seed: $0).words })
        #expect(all.count >= 18, "each form is selected by some seed")
    }

    @Test func theChallengeSaysTheSame() throws {
        var lines: Set<String> = []
        for seed in Self.seeds {
            let head = try challenged(seed)
            let values = head.fields.values(named: "WWW-Authenticate")
            lines.formUnion(values)
            let challenges = values.flatMap { Challenge.list($0) }
            let advice = try #require(challenges.first { ASCII.equal($0.scheme, "SSOADVICE") }, "\(values)")
            #expect(advice["realm"] == "/bravo" && advice["am_uri"] == "https://am.test/am/", "\(values)")
            let bytes = try #require(Base64.decode(advice["advices"] ?? ""), "\(values)")
            let tree = try JSONValue(parsing: bytes)["AuthenticateToServiceConditionAdvice"]?[0]?.text
            #expect(tree == "StepUp" || tree == "/bravo:StepUp")
        }
        #expect(lines.count > 100)
        #expect(lines.contains { $0.contains("advices = \"") } && lines.contains { $0.hasSuffix(",") })
    }

    @Test func theRedirectSaysTheSame() throws {
        let xml = PercentCoding.encode("<Advices><AttributeValuePair></AttributeValuePair></Advices>")
        let head = try response(
            "HTTP/1.1 307 Temporary Redirect\nLocation: https://am.test/am/?goto=x&realm=/bravo&authIndexType=composite_advice&authIndexValue=\(xml)"
        )
        var forms: Set<String> = []
        for seed in Self.seeds {
            let varied = plan(seed).response(head, to: try request("GET https://shop.test/pay")).head
            let location = try #require(varied.fields["Location"])
            forms.insert(location)
            let query = QueryText(location.split(separator: "?")[1])
            #expect(query["realm"] == "/bravo" && query["goto"] == "x")
            let value = try #require(query["authIndexValue"])
            let document = value.hasPrefix("<") ? value : String(decoding: Base64.decode(value) ?? [], as: UTF8.self)
            #expect(document.hasPrefix("<Advices>") && document.hasSuffix("</Advices>"))
        }
        #expect(forms.count > 5)
    }

    @Test func jsonSaysTheSame() throws {
        var chunks: Set<Int?> = []
        for seed in Self.seeds {
            let (head, body, chunk) = try answered(seed)
            chunks.insert(chunk)
            let value = try JSONValue(parsing: Array(body.utf8))
            #expect(value["authId"] == "a/b" && value["n"] == .number("1.50"))
            #expect(value["callbacks"]?[0]?["type"] == "NameCallback")
            #expect(["X-Other", "x-other", "X-OTHER"].contains(head.fields.lines[1].name))
        }
        #expect(chunks == [nil, 1, 7, 64])
    }

    @Test func whatIsNotOfAMStaysAsItIs() throws {
        for seed in Self.seeds {
            #expect(try answered(seed, #"{"items": [1]}"#).body == #"{"items": [1]}"#)
            let page = try response("HTTP/1.1 200 OK\nContent-Type: text/html\nX-Other: a")
            #expect(
                plan(seed).response(page, to: try request("GET https://a.test/")).head.fields.lines[1].name == "X-Other"
            )
        }
    }

    @Test("AM gets back what it asked for, without the added callback")
    func theAddedCallback() throws {
        let seed = try #require(Self.seeds.first { Variation(seed: $0).addsCallback })
        let varied = try answered(seed).body
        #expect(try JSONValue(parsing: Array(varied.utf8))["callbacks"]?.items?.count == 2)
        var context = EditContext()
        let post = try request("POST https://am.test/am/json/authenticate\nContent-Type: application/json")
        let sent = try plan(seed).applied(post, body: varied, &context)
        #expect(try JSONValue(parsing: Array(sent.body.utf8))["callbacks"]?.items?.count == 1)
        // a rule that may miss the next request adds none
        let parts: [Plan] = [
            plan(seed, Sampling(percent: 50)), plan(seed, when: .test(.action, [.exact("START_AUTHENTICATE")])),
        ]
        for plan in parts { #expect(plan.firstRequestMatch(post, .of(.startAuthenticate)) == nil) }
        #expect(plan(seed, when: .test(.host, [.exact("am.test")])).firstRequestMatch(post, nil) != nil)
    }
}
