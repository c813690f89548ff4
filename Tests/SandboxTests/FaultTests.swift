import Formats
import HTTPCodec
import Testing

@testable import Sandbox

@Suite struct FaultTests {
    @Test func namesAndValues() {
        #expect(SandboxFault("slow") == SandboxFault(.slow, 5000))
        #expect(SandboxFault("slow=20")?.value == 20)
        #expect(SandboxFault("huge-advice")?.value == 10 << 20)
        for text in ["", "nope", "slow=", "slow=x", "slow=-1", "reset=1", "huge-advice=999999999", "Slow"] {
            #expect(SandboxFault(text) == nil, "\(text)")
        }
    }

    @Test func aRequestSetsItForItself() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.access("/shop/x?_fault=too-many=7", session: token)["Retry-After"] == "7")
        #expect(try world.access("/shop/x?_fault=slow=7", session: token).delay == 7)
        #expect(try world.access("/shop/x?_fault=reset", session: token).resets)
        #expect(try world.access("/shop/x?_fault=unavailable&_fault=slow=1", session: token).status == 503)
        #expect(try world.access("/shop/x?_fault=nope", session: token).status == 400)
        let circle = try world.access("/shop/x?_fault=circle", session: token)
        #expect(circle["Location"] == "http://ig.localhost:8080/shop/x?_fault=circle")
        // nobody else's
        #expect(try world.access("/shop/x", session: token).status == 401)
        #expect(try world.send("GET", "/api/x?_fault=unavailable").status == 503)
        #expect(try world.send("GET", "/plain/echo?_fault=unavailable").status == 200)
    }

    @Test func aSwitchSetsItForAll() throws {
        var options = SandboxOptions()
        options.faults = [SandboxFault(.amTooMany, 3)]
        var world = World(options)
        #expect(try world.start()["Retry-After"] == "3")
        #expect(try world.send("GET", "/shop/open/x").status == 200)
    }

    @Test(arguments: ["expired-transaction", "used-transaction", "foreign-transaction", "wrong-session"])
    func transactionsThatCannotBegin(_ fault: String) throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/x?_fault=\(fault)", session: token))
        #expect(
            try world.errorCode(try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: token))
                == "128")
    }

    @Test func noTransactionEverGrants() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/x?_fault=again", session: token))
        #expect(try world.approve(id, session: token).status == 200)
        #expect(try world.transaction(try world.access("/shop/x?_fault=again", session: token, id: id)) != id)
    }

    /// AM does wrong what a request wanted, once its step-up comes there, and in no other's.
    @Test(arguments: ["x", "upgrade/x"])
    func aRequestHasItsStepUpFail(_ path: String) throws {
        var world = World()
        let token = try world.signIn()
        let other = try world.signIn("user1")
        func start(_ session: String, _ fault: String) throws -> SandboxResponse {
            let refused = try world.access("/shop/\(path)?\(fault)", session: session)
            let advice = try #require(try world.advice(refused).members?.first)
            let value = try #require(advice.value[0]?.text)
            return try world.begin(CompositeAdvice(advice.name, value), session: session)
        }
        #expect(try start(token, "_fault=am-reset").resets)
        #expect(try start(other, "a=b").status == 200)
        #expect(try start(token, "a=b").status == 200)
        #expect(try world.errorCode(try start(token, "_fault=am-lockout")) == "112")
        #expect(try start(token, "_fault=am-text").body.content.first == 0x3C)
        #expect(try start(token, "_fault=am-circle").status == 302)
        #expect(try start(token, "_fault=am-slow=9").delay == 9)
    }

    @Test func callbacksWithoutEnd() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/x?_fault=am-endless&_fault=am-slow=3", session: token))
        var step = try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: token)
        for _ in 0..<20 {
            step = try world.answer(step, session: token)
            #expect(try world.types(step) == ["NameCallback", "PasswordCallback"])
            #expect(step.delay == 3)
        }
    }

    @Test func anAuthIdOfAnySizeIsTaken() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/x?_fault=am-huge-authid=5000", session: token))
        let step = try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: token)
        #expect(try world.json(step)["authId"]?.text?.utf8.count == 5000)
        #expect(try world.json(try world.answer(step, session: token))["tokenId"]?.text == token)
    }

    @Test func adviceAsNobodyShouldGiveIt() throws {
        var world = World()
        let token = try world.signIn()
        func challenge(_ fault: String) throws -> String {
            try #require(try world.access("/shop/x?_fault=\(fault)", session: token)["WWW-Authenticate"])
        }
        #expect(try challenge("foreign-am").contains("am_uri=\"http://am.evil.example/am/\""))
        #expect(try challenge("bad-base64").contains("advices=\"%7B"))
        #expect(try challenge("no-value").contains("advices") == false)
        #expect(try challenge("cut").filter { $0 == "\"" }.count % 2 == 1)
        #expect(try challenge("huge-advice=30000").utf8.count > 40_000)
        func advice(_ fault: String) throws -> JSONValue {
            try world.advice(try world.access("/shop/x?_fault=\(fault)", session: token))
        }
        #expect(throws: JSONFault.self) { try advice("bad-json") }
        #expect(try advice("unknown-advice")["SandboxConditionAdvice"] != nil)
        #expect(try advice("thousand-advices=12")[CompositeAdvice.transaction]?.items?.count == 12)
        #expect(try advice("entities")[CompositeAdvice.transaction]?[0]?.text == "&lol9;&#x41;&xxe;")
    }

    @Test func redirectsAsNobodyShouldSendThem() throws {
        var world = World()
        let token = try world.signIn()
        func query(_ fault: String) throws -> QueryText {
            let answer = try world.send("GET", "/shop/x?_fault=\(fault)", session: token)
            #expect(answer.status == 307)
            let location = try #require(answer["Location"])
            return QueryText(location.split(separator: "?", maxSplits: 1)[1])
        }
        let entities = try #require(try query("entities")["authIndexValue"])
        #expect(entities.contains("<!ENTITY lol9 ") && entities.contains("<Value>&lol9;&#x41;&xxe;</Value>"))
        #expect(try query("no-value")["authIndexValue"] == nil)
        #expect(try query("no-value")["authIndexType"] == "composite_advice")
        #expect(try query("cut")["authIndexValue"]?.hasSuffix("</Advices>") == false)
        #expect(try query("bad-json")["authIndexValue"] == "<Advices><AttributeValuePair></Advices>")
        let foreign = try world.send("GET", "/shop/x?_fault=foreign-am", session: token)
        #expect(foreign["Location"]?.hasPrefix("http://am.evil.example/am/?goto=") == true)
    }
}
