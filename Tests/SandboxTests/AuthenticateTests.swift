import Formats
import Testing

@testable import Sandbox

@Suite struct AuthenticateTests {
    @Test(arguments: ["", "{}"])
    func startGivesTheDefaultTree(body: String) throws {
        var world = World()
        let step = try world.send("POST", World.authenticatePath(), fields: World.json, body: body)
        #expect(step.status == 200)
        let parsed = try world.json(step)
        let types = parsed["callbacks"]?.items?.map { $0["type"]?.text }
        #expect(types == ["NameCallback", "PasswordCallback"])
        #expect(parsed["callbacks"]?[1]?["input"]?[0]?["name"]?.text == "IDToken2")
        let parts = try #require(parsed["authId"]?.text).split(separator: ".")
        let claims = try JSONValue(parsing: try #require(Base64.decode(parts[1])))
        #expect(claims["realm"]?.text == "dc=am,dc=sandbox")
        #expect(claims["authIndexType"]?.text == "service")
    }

    @Test func signInGivesTokenAndCookie() throws {
        var world = World()
        let done = try world.answer(try world.start("authIndexType=service&authIndexValue=Login"))
        let token = try #require(try world.json(done)["tokenId"]?.text)
        #expect(done.values(named: "Set-Cookie").first == "iPlanetDirectoryPro=\(token); Path=/")
        #expect(try world.json(done)["realm"]?.text == "/")
        #expect(done["Cache-Control"] == "no-cache, no-store, must-revalidate")
    }

    @Test func credentialsInHeadersNeedNoPage() throws {
        var world = World()
        let name = "=?UTF-8?B?\(Base64.encode(Array("user3".utf8)))?="
        let done = try world.send(
            "POST", "/am/json/authenticate", fields: [("X-OpenAM-Username", name), ("X-OpenAM-Password", "changeit")])
        let token = try #require(try world.json(done)["tokenId"]?.text)
        let valid = try world.send("POST", "/am/json/sessions/\(token)?_action=validate")
        #expect(try world.json(valid)["uid"]?.text == "user3")
    }

    @Test func wrongContentTypeIs415() throws {
        var world = World()
        let answer = try world.send(
            "POST", World.authenticatePath(), fields: World.version + [("Content-Type", "text/plain")], body: "{}")
        #expect(answer.status == 415)
    }

    @Test func otherMethodsAndBrokenBodies() throws {
        var world = World()
        #expect(try world.send("GET", World.authenticatePath(), fields: World.version).status == 405)
        #expect(try world.send("POST", World.authenticatePath(), fields: World.json, body: "{").status == 400)
        #expect(try world.send("POST", World.authenticatePath(), fields: World.json, body: "[]").status == 400)
    }

    @Test func authIdOfAnotherRealmOrAlteredIs400() throws {
        var world = World()
        let step = try world.start()
        #expect(try world.answer(step, realm: "/alpha").status == 400)
        var body = try world.json(step)
        let authId = try #require(body["authId"]?.text)
        for place in [20, authId.count / 2, authId.count - 2] {
            var bytes = Array(authId.utf8)
            bytes[place] = bytes[place] == 0x41 ? 0x42 : 0x41
            body["authId"] = .string(String(decoding: bytes, as: UTF8.self))
            let answer = try world.send("POST", World.authenticatePath(), fields: World.json, body: body.serialized)
            #expect(answer.status == 400)
        }
        #expect(try world.answer(step).status == 200)
    }

    @Test func wrongPasswordIs401InTheVersionAsked() throws {
        var world = World()
        let new = try world.answer(try world.start(), password: "wrong")
        #expect(new.status == 401)
        #expect(try world.errorCode(new) == "107")
        #expect(try world.json(new)["reason"]?.text == "Unauthorized")
        let old = try world.answer(try world.start(), password: "wrong", version: "resource=1.2")
        #expect(old.status == 401)
        #expect(try world.json(old)["errorMessage"] != nil)
        #expect(try world.json(old)["code"] == nil)
    }

    @Test func aStepCountsOnce() throws {
        var world = World()
        let first = try world.start("authIndexType=service&authIndexValue=StepUp")
        let second = try world.answer(first)
        #expect(try world.json(second)["callbacks"]?[0]?["type"]?.text == "PasswordCallback")
        #expect(try world.json(first)["authId"] != (try world.json(second)["authId"]))
        let repeated = try world.answer(first)
        #expect(repeated.status == 401)
        #expect(try world.errorCode(repeated) == "110")
        #expect(try world.json(try world.answer(second))["tokenId"] != nil)
        #expect(try world.errorCode(try world.answer(second)) == "110")
    }

    @Test func anOldJourneyHasTimedOut() throws {
        var world = World()
        let step = try world.start()
        world.now += JourneyTable.lifetime
        #expect(try world.errorCode(try world.answer(step)) == "110")
    }

    @Test func callbacksMustComeBackAsTheyWere() throws {
        var world = World()
        var body = try world.json(try world.start())
        let callbacks = try #require(body["callbacks"]?.items)
        body["callbacks"] = .array([callbacks[0]])
        #expect(
            try world.send("POST", World.authenticatePath(), fields: World.json, body: body.serialized).status == 400)
        body["callbacks"] = .array([callbacks[1], callbacks[0]])
        #expect(
            try world.send("POST", World.authenticatePath(), fields: World.json, body: body.serialized).status == 400)
    }

    @Test func aGoodSessionNeedsNoAnswers() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.json(try world.start(session: token))["tokenId"]?.text == token)
        let forced = try world.start("ForceAuth=true", session: token)
        #expect(try world.json(forced)["callbacks"] != nil)
        let fresh = try #require(try world.json(try world.answer(forced, session: token))["tokenId"]?.text)
        #expect(fresh != token)
        #expect(try world.access(session: token).status == 302)
        #expect(try world.access(session: fresh).status == 401)
    }

    @Test func noSessionMakesNone() throws {
        var world = World()
        let done = try world.answer(try world.start("noSession=true"))
        #expect(done.status == 200)
        #expect(try world.json(done)["tokenId"] == nil)
        #expect(done["Set-Cookie"] == nil)
    }

    @Test func upgradeByAnotherUserFailsAndLeavesTheSession() throws {
        var world = World()
        let token = try world.signIn("user1")
        let advice = CompositeAdvice(CompositeAdvice.service, "/:StepUp")
        let first = try world.begin(advice, session: token)
        let second = try world.answer(first, name: "user2", session: token)
        #expect(try world.answer(second, session: token).status == 401)
        #expect(try world.access("/shop/upgrade/x", session: token).status == 401)
    }

    @Test func unknownTreesTypesAndRealms() throws {
        var world = World()
        let tree = try world.start("authIndexType=service&authIndexValue=Nope")
        #expect(tree.status == 400)
        #expect(try world.errorCode(tree) == "105")
        #expect(try world.start("authIndexType=nope&authIndexValue=1").status == 400)
        let realm = try world.start(realm: "/beta")
        #expect(realm.status == 400)
        #expect(try world.errorCode(realm) == "108")
        #expect(try world.send("POST", "/am/json/realms/alpha/authenticate", fields: World.json).status == 404)
    }

    @Test(arguments: [
        "/am/json/alpha/authenticate", "/am/json/authenticate?realm=/alpha", "/am/json/authenticate?realm=alpha",
    ])
    func olderRealmForms(path: String) throws {
        var world = World()
        let step = try world.send("POST", path, fields: World.json)
        let done = try world.answer(step, realm: "/alpha")
        #expect(try world.json(done)["realm"]?.text == "/alpha")
    }

    @Test func versionsAreNegotiated() throws {
        var world = World()
        func status(_ version: String) throws -> Int {
            try world.send("POST", World.authenticatePath(), fields: [("Accept-API-Version", version)]).status
        }
        #expect(try status("resource=2.0, protocol=1.0") == 200)
        #expect(try status("protocol=1.0,resource=1.1") == 200)
        #expect(try status("resource=3.0") == 404)
        #expect(try status("resource=2.1,protocol=9.0") == 404)
        #expect(try status("resource=two") == 400)
    }

    @Test func aCookieAloneIsNotEnoughToChangeThings() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.send("POST", World.authenticatePath(), session: token).status == 403)
        #expect(
            try world.send(
                "POST", World.authenticatePath(), session: token, fields: [("X-Requested-With", "x")]
            ).status == 200)
        #expect(
            try world.send("POST", World.authenticatePath(), fields: [("iPlanetDirectoryPro", token)]).status == 200)
    }
}
