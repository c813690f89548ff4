import Formats
import HTTPCodec
import Testing

@testable import Sandbox

@Suite struct GatewayTests {
    @Test func withoutSessionItSendsToSignIn() throws {
        var world = World()
        let answer = try world.send("GET", "/shop/pay?amount=40&b=%20")
        #expect(answer.status == 302)
        #expect(
            answer["Location"]
                == "http://am.localhost:8080/am/?goto=http://ig.localhost:8080/shop/pay?amount%3D40%26b%3D%2520&realm=/"
        )
        #expect(try world.access(session: "dead.*x*").status == 302)
    }

    @Test func theRedirectForm() throws {
        var world = World()
        let token = try world.signIn(realm: "/alpha")
        let answer = try world.send("GET", "/shop/pay", session: token)
        #expect(answer.status == 307)
        let location = try #require(answer["Location"])
        let id = try #require(location.split(separator: "_txid%3D").last?.prefix(36))
        #expect(
            location == "http://am.localhost:8080/am/?goto=http://ig.localhost:8080/shop/pay?_txid%3D\(id)"
                + "&realm=/alpha&authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E"
                + "%3CAttribute%20name%3D%22TransactionConditionAdvice%22/%3E%3CValue%3E\(id)%3C/Value%3E"
                + "%3C/AttributeValuePair%3E%3C/Advices%3E")
        let query = try #require(try world.send("GET", "/shop/pay?a=1", session: token)["Location"])
        #expect(query.contains("goto=http://ig.localhost:8080/shop/pay?a%3D1%26_txid%3D"))
    }

    @Test func theRedirectLeadsThroughAM() throws {
        var world = World()
        let token = try world.signIn()
        let location = try #require(try world.send("GET", "/shop/pay", session: token)["Location"])
        let query = QueryText(location.split(separator: "?", maxSplits: 1)[1])
        let value = try #require(query["authIndexValue"])
        let encoded = PercentCoding.encode(value)
        let step = try world.start("authIndexType=composite_advice&authIndexValue=\(encoded)", session: token)
        _ = try world.answer(step, session: token)
        let back = try #require(query["goto"]).dropFirst(world.host.count)
        #expect(try world.send("GET", String(back), session: token).status == 200)
    }

    @Test(arguments: ["HEADER", "headers", "", "header "])
    func onlyTheExactTriggerGivesTheHeaderForm(value: String) throws {
        var world = World()
        let token = try world.signIn()
        let answer = try world.send("GET", "/shop/pay", session: token, fields: [("x-authenticate-response", value)])
        #expect(answer.status == 307)
    }

    @Test func theHeaderForm() throws {
        var world = World()
        let answer = try world.access(session: try world.signIn())
        let id = try world.transaction(answer)
        let advices = Base64.encode(Array("{\"TransactionConditionAdvice\":[\"\(id)\"]}".utf8))
        #expect(
            answer["WWW-Authenticate"]
                == "SSOADVICE realm=\"/\",advices=\"\(advices)\",am_uri=\"http://am.localhost:8080/am/\"")
    }

    @Test func whatIsAskedOverTLSStaysThere() throws {
        var world = World()
        world.host = "https://ig.localhost:8443"
        let answer = try world.access(session: try world.signIn())
        #expect(answer["WWW-Authenticate"]?.hasSuffix("am_uri=\"https://am.localhost:8443/am/\"") == true)
        #expect(
            try world.send("GET", "/shop/pay")["Location"]
                == "https://am.localhost:8443/am/?goto=https://ig.localhost:8443/shop/pay&realm=/")
    }

    @Test func upgradeReplacesTheSession() throws {
        var world = World()
        let token = try world.signIn("user2", realm: "/alpha")
        let refused = try world.access("/shop/upgrade/x", session: token)
        #expect(try world.advice(refused)[CompositeAdvice.service]?[0]?.text == "/alpha:StepUp")
        let advice = CompositeAdvice(CompositeAdvice.service, "/alpha:StepUp")
        let first = try world.begin(advice, realm: "/alpha", session: token)
        let second = try world.answer(first, name: "user2", realm: "/alpha", session: token)
        let done = try world.answer(second, realm: "/alpha", session: token)
        let fresh = try #require(try world.json(done)["tokenId"]?.text)
        #expect(fresh != token)
        #expect(try world.access("/shop/upgrade/x", session: fresh).status == 200)
        #expect(try world.access("/shop/upgrade/x", session: token).status == 302)
    }

    @Test func upgradeComesBeforeTheTransaction() throws {
        var world = World()
        let token = try world.signIn()
        let first = try world.access("/shop/both/x", session: token)
        #expect(try world.advice(first).members?.map(\.name) == [CompositeAdvice.service])
        let page = try world.begin(CompositeAdvice(CompositeAdvice.service, "StepUp"), session: token)
        let done = try world.answer(try world.answer(page, session: token), session: token)
        let fresh = try #require(try world.json(done)["tokenId"]?.text)
        let id = try world.transaction(try world.access("/shop/both/x", session: fresh))
        _ = try world.approve(id, session: fresh)
        #expect(try world.access("/shop/both/x", session: fresh, id: id).status == 200)
    }

    @Test func anAdviceOfAnotherRealmIsRefused() throws {
        var world = World()
        let token = try world.signIn()
        let advice = CompositeAdvice(CompositeAdvice.service, "/alpha:StepUp")
        #expect(try world.begin(advice, session: token).status == 400)
    }

    @Test func openIsOpen() throws {
        var world = World()
        let answer = try world.access("/shop/open/x", "POST", session: nil, body: "hello")
        #expect(answer.status == 200)
        #expect(try world.json(answer)["body"]?.text == "hello")
        #expect(try world.json(answer)["user"] == .null)
    }

    @Test func aPostKeepsItsBody() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/pay", "POST", session: token, body: "first"))
        _ = try world.approve(id, session: token)
        let granted = try world.access("/shop/pay", "POST", session: token, id: id, body: "{\"a\":1}")
        #expect(try world.json(granted)["body"]?.text == "{\"a\":1}")
        #expect(try world.json(granted)["bodyLength"] == .integer(7))
    }

    /// What clients hand back beside the transaction belongs to the gateway.
    @Test(arguments: ["_idtoken=e.y.z", "_idtoken", "_idtoken=e.y.z&_idtoken=a"])
    func theTokenIsNoPartOfTheResource(_ handedBack: String) throws {
        var world = World()
        let token = try world.signIn()
        for path in ["/shop/pay?a=1", "/shop/pay"] {
            let id = try world.transaction(try world.access(path, session: token))
            _ = try world.approve(id, session: token)
            let separator = path.contains("?") ? "&" : "?"
            let granted = try world.access("\(path)\(separator)\(handedBack)", session: token, id: id)
            #expect(granted.status == 200)
            #expect(try world.json(granted)["url"]?.text == "http://ig.localhost:8080\(path)")
        }
    }

    @Test func theQueryIsComparedByteForByte() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/pay?a=x%20y", session: token))
        _ = try world.approve(id, session: token)
        #expect(try world.access("/shop/pay?a=x+y", session: token, id: id).status == 401)
        let granted = try world.access("/shop/pay?a=x%20y", session: token, id: id)
        #expect(granted.status == 200)
        #expect(try world.json(granted)["url"]?.text == "http://ig.localhost:8080/shop/pay?a=x%20y")
    }
}

@Suite struct CompositeAdviceTests {
    static let id = "5d0c7e2a-91b4-4f6e-8a33-c2f19b7e6d05"
    let advice = CompositeAdvice(CompositeAdvice.transaction, id)

    @Test func spellingsAreThoseOfTheField() {
        #expect(
            Base64.encode(Array(advice.json.serialized.utf8))
                == "eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyI1ZDBjN2UyYS05MWI0LTRmNmUtOGEzMy1jMmYxOWI3ZTZkMDUiXX0=")
        #expect(
            Base64.encode(Array(advice.xml.utf8), urlSafe: true)
                == "PEFkdmljZXM-PEF0dHJpYnV0ZVZhbHVlUGFpcj48QXR0cmlidXRlIG5hbWU9IlRyYW5zYWN0aW9uQ29uZGl0aW9uQWR2aWNl"
                + "Ii8-PFZhbHVlPjVkMGM3ZTJhLTkxYjQtNGY2ZS04YTMzLWMyZjE5YjdlNmQwNTwvVmFsdWU-PC9BdHRyaWJ1dGVWYWx1ZVBhaXI-"
                + "PC9BZHZpY2VzPg")
        let service = CompositeAdvice(CompositeAdvice.service, "/bravo:StepUp")
        #expect(
            Base64.encode(Array(service.json.serialized.utf8))
                == "eyJBdXRoZW50aWNhdGVUb1NlcnZpY2VDb25kaXRpb25BZHZpY2UiOlsiL2JyYXZvOlN0ZXBVcCJdfQ==")
    }

    @Test func everySpellingIsRead() {
        let once = PercentCoding.encode(advice.xml)
        let spellings = [
            advice.xml, once, PercentCoding.encode(once), Base64.encode(Array(advice.xml.utf8), urlSafe: true),
            Base64.encode(Array(advice.xml.utf8)),
            "<Advices>\n <AttributeValuePair>\n  <Attribute name=\"TransactionConditionAdvice\"/>\n  "
                + "<Value>\(Self.id)</Value>\n </AttributeValuePair>\n</Advices>\n",
        ]
        for spelling in spellings { #expect(CompositeAdvice(indexValue: spelling) == advice) }
    }

    @Test func valuesAreEscaped() {
        let odd = CompositeAdvice(CompositeAdvice.service, "/:a<b&\"c\">d")
        #expect(CompositeAdvice(indexValue: odd.xml) == odd)
    }

    @Test(arguments: [
        "", "<Advices></Advices>", "<Advices><AttributeValuePair></AttributeValuePair></Advices>",
        "<!DOCTYPE a><Advices><AttributeValuePair><Attribute name=\"A\"/></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>&x;</Value></AttributeValuePair></Advices>",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>1</Value></AttributeValuePair></Advices>x",
        "<Advices><AttributeValuePair><Attribute name=\"A\"/><Value>1", "%ca", "???",
    ])
    func anythingElseIsNone(text: String) {
        #expect(CompositeAdvice(indexValue: text) == nil)
    }
}
