import Formats
import Testing

@testable import Authorization

@Suite("Advice reader")
struct AdviceReaderTests {
    static let document =
        "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>t-1</Value>"
        + "</AttributeValuePair></Advices>"

    @Test(arguments: [
        ("SSOADVICE advices=\"%%%\"", true), ("ssoadvice realm=\"/\"", true), ("SSOADVICE", true),
        ("SSOADVICE realm=\"/\",advices=\"eyJ", true), ("Bearer realm=\"x\", SSOADVICE advices=\"e30=\"", true),
        ("Bearer realm=\"SSOADVICE\"", false), ("SSOADVICEX a=b", false), ("Basic realm=\"x\"", false),
    ])
    func aChallengeThatAnnouncesAnAdvice(_ line: String, _ isFlawed: Bool) {
        let head = fields([("WWW-Authenticate", line)])
        #expect(AdviceReader(.standard).read(status: 401, fields: head, body: nil) == nil)
        #expect((AdviceReader(.standard).flaw(status: 401, fields: head) != nil) == isFlawed)
        #expect(AdviceReader(.standard).flaw(status: 403, fields: head) == nil)
        #expect(AdviceReader(.redirect).flaw(status: 401, fields: head) == nil)
    }

    @Test(arguments: [
        ("https://am.example.test/am/?authIndexType=composite_advice&authIndexValue=x", true),
        ("/am?authIndexType=composite_advice", true), ("https://am.example.test/am/?goto=x", false),
        ("/am/#?authIndexType=composite_advice", false), ("/am/?authIndexType=service&authIndexValue=x", false),
    ])
    func aRedirectThatAnnouncesAnAdvice(_ place: String, _ isFlawed: Bool) {
        let head = fields([("Location", place)])
        #expect(AdviceReader(.standard).read(status: 302, fields: head, body: nil) == nil)
        #expect((AdviceReader(.standard).flaw(status: 302, fields: head) != nil) == isFlawed)
        #expect(AdviceReader(.header).flaw(status: 302, fields: head) == nil)
        #expect(AdviceReader(.standard).flaw(status: 200, fields: head) == nil)
    }

    private func redirect(_ value: String, to address: String = "https://am.example.test/am/") -> Advice? {
        let location = "\(address)?goto=x&authIndexType=composite_advice&authIndexValue=\(value)"
        return readAdvice(302, [("Location", location)])
    }

    @Test func spellingsOfTheRedirect() {
        let once = PercentCoding.encode(Self.document)
        let twice = PercentCoding.encode(once)
        let thrice = PercentCoding.encode(twice)
        let safe = Base64.encode(Array(Self.document.utf8), urlSafe: true)
        let standard = PercentCoding.encode(Base64.encode(Array(Self.document.utf8)))
        for value in [once, twice, thrice, safe, standard, "%20%0A" + once] {
            #expect(redirect(value)?.transactionId == "t-1")
        }
        #expect(redirect(PercentCoding.encode(thrice)) == nil)
    }

    @Test func whereARedirectLeadsIsKept() {
        let value = PercentCoding.encode(Self.document)
        #expect(redirect(value, to: "https://AM.example.test:8443/am")?.amURI == "https://AM.example.test:8443/am")
        let relative = redirect(value, to: "/am/UI/Login")
        #expect(relative?.transactionId == "t-1")
        #expect(relative?.amURI == nil && relative?.location == "/am/UI/Login")
        let location = "https://am.example.test/?authIndexType=composite_advice&authIndexValue=\(value)"
        for status in [200, 300, 304, 305, 401] {
            #expect(readAdvice(status, [("Location", location)]) == nil)
        }
        for status in [301, 302, 303, 307, 308] {
            #expect(readAdvice(status, [("Location", location)]) != nil)
        }
        let header = AdviceReader([.header, .body])
        #expect(header.read(status: 302, fields: fields([("Location", location)]), body: nil) == nil)
    }

    @Test(arguments: [
        (
            "<?xml version=\"1.0\"?>\n<!-- a --><Advices>\n <AttributeValuePair ><Attribute name='A_1'></Attribute>"
                + "<Value>\n x </Value><Value>&#65;&#x42;&quot;&apos;</Value></AttributeValuePair><!-- b --></Advices>\n",
            ["x", "AB\"'"]
        ),
        (
            "<Advices><AttributeValuePair><Attribute name=\"A_1\"/><Value><![CDATA[<&>]]></Value><Value/>"
                + "</AttributeValuePair></Advices>", ["<&>"]
        ),
        (
            "<Advices><AttributeValuePair><Attribute name=\"A_1\"/><Value>1</Value></AttributeValuePair>"
                + "<AttributeValuePair><Attribute name=\"A_1\"/><Value>2</Value></AttributeValuePair></Advices>",
            ["1", "2"]
        ),
        (
            "<Advices><AttributeValuePair><Attribute name=\"no good\"/><Value>1</Value></AttributeValuePair>"
                + "<AttributeValuePair><Attribute name=\"A_1\"/><Value>2</Value></AttributeValuePair></Advices>", ["2"]
        ),
    ])
    func documents(_ text: String, _ values: [String]) {
        #expect(AdvicesXML.read(Array(text.utf8)) == [Advice.Condition("A_1", values)])
    }

    @Test(arguments: [
        "<!DOCTYPE a><Advices><AttributeValuePair><Attribute name=\"A\"/><Value>1</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>&e;</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>&#0;</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>&#xD800;</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>&#+65;</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>& </Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value><b/></Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute/><Value>1</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\" name=\"B\"/><Value>1</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Value>1</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/>text</AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>1</Value></AttributeValuePair></Advices>x",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>1</Value></Advices></AttributeValuePair>",
        "<Advices><?php x?></Advices>", "<Advices/>", "<Advices></Advices>", "<advices></advices>", "<", "", "<A",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>\u{1}</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value><![CDATA[]]</Value></AttributeValuePair></Advices>",
    ])
    func malformedDocuments(_ text: String) {
        #expect(AdvicesXML.read(Array(text.utf8)) == nil)
    }

    @Test func everyPrefixAndEveryFlippedByteOfADocumentIsReadWithoutHarm() {
        let bytes = Array(Self.document.utf8)
        for length in 0..<bytes.count { #expect(AdvicesXML.read(Array(bytes.prefix(length))) == nil) }
        for index in bytes.indices {
            for value in [0x00, 0x3C, 0x3E, 0x26, 0x22, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = value
                let read = AdvicesXML.read(changed)
                #expect(read == nil || read?.isEmpty == false)
            }
        }
    }

    @Test func deepAndHugeDocumentsEndEarly() {
        let deep = String(repeating: "<Advices>", count: 50_000)
        #expect(AdvicesXML.read(Array(deep.utf8)) == nil)
        let value = String(repeating: "v", count: 100_000)
        let huge = Self.document.replacing("t-1", with: value)
        let advice = Advice(source: .redirect, conditions: AdvicesXML.read(Array(huge.utf8)) ?? [])
        #expect(advice.transactionId == value)
        #expect(advice.refusal?.contains("more than fit") == true)
    }

    @Test func writtenDocumentsReadBack() {
        let conditions = [
            Advice.Condition("A", ["R&D <1>", "50% + more", "Prüfung"]), Advice.Condition("B_2", ["\"quoted\" 'x'"]),
        ]
        let xml = AdvicesXML.document(conditions)
        #expect(!xml.contains("%") && !xml.contains("+"))
        #expect(AdvicesXML.read(Array(xml.utf8)) == conditions)
        // as a server reads it that decodes once too often
        #expect(AdvicesXML.read(Array(PercentCoding.decode(xml, plusAsSpace: true).utf8)) == conditions)
    }

    // MARK: bodies

    private func body(_ text: String, _ status: Int = 200, _ lines: [(String, String)] = json) -> Advice? {
        readAdvice(status, lines, Array(text.utf8))
    }

    private static func decision(
        actions: String = "{}", advices: String = "{\"TransactionConditionAdvice\":[\"t-1\"]}", more: String = ""
    ) -> String {
        "{\"resource\":\"r\",\"actions\":\(actions),\"attributes\":{},\"advices\":\(advices)\(more)}"
    }

    @Test func mediaTypesAndCodings() {
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            #expect(body(Self.decision(), 403, [("Content-Type", type)])?.transactionId == "t-1")
        }
        for type in ["text/html", "application/jsonp", "application/json-seq", ""] {
            #expect(body(Self.decision(), 403, [("Content-Type", type)]) == nil)
        }
        #expect(body(Self.decision(), 200, json + [("Content-Encoding", "gzip")]) == nil)
        #expect(body(Self.decision(), 200, json + [("Content-Encoding", "identity")]) != nil)
        for status in [201, 302, 400, 404, 500] { #expect(body(Self.decision(), status) == nil) }
    }

    @Test func needsBodyOnlyWhereABodyCouldSay() {
        let reader = AdviceReader(everyForm)
        #expect(reader.needsBody(status: 200, fields: fields(json)))
        #expect(!AdviceReader(.standard).needsBody(status: 200, fields: fields(json)))
        #expect(!reader.needsBody(status: 200, fields: fields([])))
        #expect(!reader.needsBody(status: 404, fields: fields(json)))
        #expect(!reader.needsBody(status: 401, fields: fields(json + [("Content-Length", "0")])))
        let challenge = ("WWW-Authenticate", "SSOADVICE advices=\"\(ChallengeTests.advices)\"")
        #expect(!reader.needsBody(status: 401, fields: fields(json + [challenge])))
        // a challenge that does not count hides no body that does
        #expect(AdviceReader(.body).needsBody(status: 401, fields: fields(json + [challenge])))
    }

    @Test(arguments: [
        decision(actions: "null"), decision(actions: "{\"GET\":false,\"PUT\":true}"), decision(actions: "[true]"),
        decision(advices: "[\"A\"]"), decision(advices: "{\"A\":[1]}"), decision(advices: "{\"A\":[\"\"]}"),
        decision(advices: "{\"A b\":[\"1\"]}"), decision(more: ",\"author\":\"eve\""),
        decision(more: ",\"actions\":{}"), "[\(decision()),1]", "[\(decision()),{}]", "[{},\(decision())]",
        "[[\(decision())]]", "{\"notes\":[\(decision())]}",
        "{\"actions\":{},\"advices\":{\"TransactionConditionAdvice\":[\"t-1\"]}}",
        "{\"resource\":1,\"actions\":{},\"attributes\":{},\"advices\":{\"A\":[\"1\"]}}",
        "{\"resource\":\"r\",\"actions\":{},\"attributes\":1,\"advices\":{\"A\":[\"1\"]}}",
        "[]", "[[]]", "null", "\"advices\"", "{}", "",
    ])
    func bodiesWithoutAdvice(_ text: String) {
        #expect(body(text) == nil)
    }

    @Test func partsOfOtherKindsAreLeftOut() {
        let mixed = "{\"A\":[\"1\",2],\"B\":\"x\",\"C\":[],\"D\":[\"ok\",\"\"],\"\":[\"y\"]}"
        #expect(body(Self.decision(advices: mixed))?.conditions == [Advice.Condition("D", ["ok"])])
    }

    @Test func aFloodOfConditionsIsNoAdvice() {
        let names = (0..<10_000).map { "\"A\($0)\":[\"1\"]" }.joined(separator: ",")
        #expect(body(Self.decision(advices: "{\(names)}")) == nil)
        let pairs = (0..<10_000).map {
            "<AttributeValuePair><Attribute name=\"A\($0)\"/><Value>1</Value></AttributeValuePair>"
        }
        #expect(AdvicesXML.read(Array("<Advices>\(pairs.joined())</Advices>".utf8)) == nil)
        let attributes = (0..<10_000).map { " a\($0)=''" }.joined()
        #expect(
            AdvicesXML.read(Array(Self.document.replacing("<Advices>", with: "<Advices\(attributes)>").utf8)) == nil)
    }

    @Test func aBodyOverTheLimitIsNotRead() {
        let size = AdviceReader.maxBody - Self.decision().utf8.count
        #expect(body(Self.decision() + String(repeating: " ", count: size)) != nil)
        #expect(body(Self.decision() + String(repeating: " ", count: size + 1)) == nil)
    }

    @Test func deepJSONIsNoAdvice() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(body(deep) == nil)
        let inside = Base64.encode(Array(deep.utf8))
        let header = fields([("WWW-Authenticate", "SSOADVICE advices=\"\(inside)\"")])
        #expect(AdviceReader(everyForm).read(status: 401, fields: header, body: nil) == nil)
    }

    // MARK: advice

    @Test func kindsOfAdvice() {
        let transaction = Advice.Condition("TransactionConditionAdvice", ["t-1"])
        let tree = Advice.Condition("AuthenticateToTreeConditionAdvice", ["/alpha:StepUp"])
        let first = Advice(source: .header, conditions: [transaction])
        #expect(first.isTransaction && !first.isUpgrade && first.tree == nil)
        let both = Advice(source: .header, conditions: [tree, transaction])
        #expect(both.isTransaction && both.isUpgrade && both.tree == "/alpha:StepUp")
        #expect(!both.summary.contains("t-1"))
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\u{0}", "a\u{7F}", "a\tb"])
    func controlCharactersAreRefused(_ value: String) {
        let advice = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", [value])])
        #expect(advice.refusal?.contains("control character") == true)
        var stepUp = StepUp(policy: policy(), advice: advice, session: "S")
        #expect(stepUp.begin().failure?.code == .unusable)
    }
}
