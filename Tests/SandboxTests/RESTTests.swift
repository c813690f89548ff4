import Formats
import Testing

@testable import Sandbox

@Suite struct SessionsEndpointTests {
    @Test func logoutTwice() throws {
        var world = World()
        let token = try world.signIn()
        let first = try world.send(
            "POST", "/am/json/realms/root/sessions/?_action=logout&x=1", session: token, fields: World.version)
        #expect(first.status == 200)
        #expect(try world.json(first)["result"]?.text == "Successfully logged out")
        #expect(first["Set-Cookie"]?.hasPrefix("iPlanetDirectoryPro=; Path=/; Expires=") == true)
        let second = try world.send("POST", "/am/json/sessions?_action=logout", session: token, fields: World.version)
        #expect(second.status == 200)
        #expect(try world.json(second)["result"]?.text == "Token has expired")
        #expect(try world.send("POST", "/am/json/sessions?_action=logout").status == 400)
    }

    @Test func validateAndInfo() throws {
        var world = World()
        let token = try world.signIn("user4", realm: "/alpha")
        let path = "/am/json/realms/root/realms/alpha/sessions?_action="
        let valid = try world.send("POST", path + "validate", session: token, fields: World.version)
        #expect(try world.json(valid)["valid"] == .bool(true))
        #expect(try world.json(valid)["realm"]?.text == "/alpha")
        let info = try world.json(
            try world.send("POST", path + "getSessionInfo", fields: [("iPlanetDirectoryPro", token)]))
        #expect(info["username"]?.text == "user4")
        #expect(info["latestAccessTime"]?.text == "2027-01-15T08:00:00Z")
        #expect(try world.send("POST", path + "dance", session: token, fields: World.version).status == 501)
        let dead = try world.send("POST", path + "validate", fields: [("iPlanetDirectoryPro", "x")])
        #expect(try world.json(dead)["valid"] == .bool(false))
        #expect(try world.send("POST", path + "getSessionInfo", fields: [("iPlanetDirectoryPro", "x")]).status == 401)
    }

    @Test func anIdleSessionDies() throws {
        var world = World()
        let token = try world.signIn()
        for _ in 0..<3 {
            world.now += world.server.am.store.sessions.maxIdle - 1
            #expect(try world.access(session: token).status == 401)
        }
        world.now += world.server.am.store.sessions.maxIdle
        #expect(try world.access(session: token).status == 302)
    }

    @Test func noSessionOutlivesItsLongestLife() throws {
        var world = World()
        let token = try world.signIn()
        let end = world.now + world.server.am.store.sessions.maxLife
        while world.now + 1000 < end {
            world.now += 1000
            #expect(try world.access(session: token).status == 401)
        }
        world.now = end
        #expect(try world.access(session: token).status == 302)
    }

    @Test func serverInfoNamesTheCookie() throws {
        var options = SandboxOptions()
        options.cookieName = "sess7c1e"
        var world = World(options)
        let info = try world.json(try world.send("GET", "/am/json/realms/root/serverinfo/*"))
        #expect(info["cookieName"]?.text == "sess7c1e")
    }
}

@Suite struct PoliciesTests {
    static let path = "/am/json/realms/root/policies?_action=evaluate"

    @Test func decisionsFollowTheTransaction() throws {
        var world = World()
        let admin = try world.signIn("policyadmin")
        let user = try world.signIn("user5")
        func question(_ id: String?) -> String {
            let environment = id.map { ",\"environment\":{\"TxId\":[\"\($0)\"]}" } ?? ""
            return "{\"resources\":[\"http://shop.example/shop/pay\"],\"application\":\"shop\","
                + "\"subject\":{\"ssoToken\":\"\(user)\"}\(environment)}"
        }
        func ask(_ id: String? = nil) throws -> JSONValue {
            let answer = try world.send("POST", Self.path, session: admin, fields: World.json, body: question(id))
            #expect(answer.status == 200)
            return try #require(try world.json(answer)[0])
        }
        let first = try ask()
        #expect(first["actions"] == .object([]))
        let id = try #require(first["advices"]?[CompositeAdvice.transaction]?[0]?.text)
        _ = try world.approve(id, session: user, name: "user5")
        let granted = try ask(id)
        #expect(granted["actions"]?["POST"] == .bool(true))
        #expect(granted["ttl"] == .integer(0))
        #expect(granted["advices"] == .object([]))
        let again = try ask(id)
        #expect(again["advices"]?[CompositeAdvice.transaction]?[0]?.text != id)
    }

    @Test func badQuestions() throws {
        var world = World()
        let admin = try world.signIn("policyadmin")
        let user = try world.signIn()
        func status(_ session: String?, _ body: String) throws -> Int {
            try world.send("POST", Self.path, session: session, fields: World.json, body: body).status
        }
        let good = "{\"resources\":[\"http://a/shop/open/\"]}"
        #expect(try status(nil, good) == 401)
        #expect(try status(user, good) == 403)
        #expect(try status(admin, good) == 200)
        #expect(try status(admin, "{\"resources\":[]}") == 400)
        #expect(try status(admin, "{}") == 400)
        #expect(try status(admin, "{\"resources\":[\"http://a/\"],\"subject\":{\"ssoToken\":\"dead\"}}") == 400)
        #expect(try status(admin, "{\"resources\":[\"http://a/\"],\"application\":\"nope\"}") == 400)
        #expect(try status(admin, "{\"resources\":[\"http://a/\"],\"environment\":{\"TxId\":\"x\"}}") == 400)
        #expect(try world.send("POST", "/am/json/policies?_action=x", session: admin, fields: World.json).status == 501)
    }

    @Test func whatNoPolicyNamesGivesNothing() throws {
        var world = World()
        let admin = try world.signIn("policyadmin")
        let answer = try world.send(
            "POST", Self.path, session: admin, fields: World.json,
            body: "{\"resources\":[\"http://a/x\",\"http://a/x\",\"http://a/shop/open/y\"]}")
        let decisions = try #require(try world.json(answer).items)
        #expect(decisions.count == 2)
        #expect(decisions[0]["actions"] == .object([]))
        #expect(decisions[0]["advices"] == .object([]))
        #expect(decisions[1]["ttl"] == .integer(9_223_372_036_854_775_807))
    }
}

@Suite struct PlainPagesTests {
    @Test func bodiesAreAsLongAsAsked() throws {
        var world = World()
        #expect(try world.send("GET", "/plain/bytes/1000").body.content.count == 1000)
        guard case .chunked(let bytes, 10) = try world.send("GET", "/plain/chunked/95/10").body else {
            Issue.record("not chunked")
            return
        }
        #expect(bytes.count == 95)
        #expect(try world.send("GET", "/plain/bytes/-1").status == 404)
        #expect(try world.send("GET", "/plain/bytes/99999999999999999999").status == 404)
        #expect(try world.send("GET", "/plain/chunked/5/0").status == 404)
    }

    @Test func statusesAreAsAsked() throws {
        var world = World()
        for status in [200, 204, 304, 418, 500, 599] {
            #expect(try world.send("GET", "/plain/status/\(status)").status == status)
        }
        #expect(try world.send("GET", "/plain/status/100").status == 404)
    }

    @Test func echoTellsEverything() throws {
        var world = World()
        let echo = try world.json(
            try world.send("PUT", "/plain/echo?a=%20b", fields: [("X-One", "1"), ("x-one", "2")], body: "ä"))
        #expect(echo["method"]?.text == "PUT")
        #expect(echo["url"]?.text == "http://ig.localhost:8080/plain/echo?a=%20b")
        #expect(echo["fields"]?[1] == .array([.string("X-One"), .string("1")]))
        #expect(echo["fields"]?[2] == .array([.string("x-one"), .string("2")]))
        #expect(echo["body"]?.text == "ä")
        #expect(echo["bodyLength"] == .integer(2))
        var request = try SandboxRequest("POST", "http://a/plain/echo")
        request.body = [0xFF, 0x00]
        let binary = try world.json(world.server.handle(request, now: 0))
        #expect(binary["bodyBase64"]?.text == "/wA=")
    }
}
