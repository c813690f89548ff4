import Formats
import Testing

@testable import Sandbox

@Suite struct AdminTests {
    private static let admin = "/sandbox/admin/"

    private func world() -> World {
        var options = SandboxOptions()
        options.hasAdmin = true
        return World(options)
    }

    private func told(_ response: SandboxResponse) throws -> JSONValue { try JSONValue(parsing: response.body.content) }

    @Test func withoutTheOptionThereIsNone() throws {
        var world = World()
        #expect(try world.send("GET", Self.admin + "document").status == 404)
    }

    @Test func pagesInBrowsersMayNotUseIt() throws {
        var world = world()
        let answer = try world.send("POST", Self.admin + "reset", fields: [("Origin", "http://ig.localhost:8080")])
        #expect(answer.status == 403)
    }

    @Test func entriesAreMadeChangedAndDeleted() throws {
        var world = world()
        let path = Self.admin + "users/alice"
        #expect(try world.send("GET", path).status == 404)
        #expect(try world.send("PUT", path, body: #"{"name":"alice","password":"one"}"#).status == 201)
        #expect(try world.answer(try world.start(), name: "alice", password: "one").status == 200)
        #expect(try world.send("PATCH", path, body: #"{"password":"two","realm":"/alpha"}"#).status == 200)
        #expect(try world.answer(try world.start(), name: "alice", password: "two").status == 401)
        #expect(try world.send("PATCH", path, body: #"{"realm":null}"#).status == 200)
        #expect(try told(try world.send("GET", path)) == ["name": "alice", "password": "two"])
        #expect(try world.answer(try world.start(), name: "alice", password: "two").status == 200)
        #expect(try told(try world.send("GET", Self.admin + "users")).items?.count == 1)
        #expect(try world.send("DELETE", path).status == 200)
        #expect(try world.send("DELETE", path).status == 404)
        #expect(try world.answer(try world.start(), name: "alice", password: "two").status == 401)
    }

    @Test func changesKeepSessions() throws {
        var world = world()
        let session = try world.signIn()
        #expect(try world.send("PUT", Self.admin + "clients/c", body: #"{"id":"c"}"#).status == 201)
        #expect(try world.access("/shop/upgrade/x", session: session).status == 401)
        #expect(world.server.am.store.sessions.find(session, now: world.now) != nil)
    }

    @Test func aWholeDocumentIsTakenOrRefusedWhole() throws {
        var world = world()
        let session = try world.signIn()
        let bad = #"{"users":[{"name":"alice","password":"one"}],"trees":[{"name":"T","pages":[{"page":"x"}]}]}"#
        let refused = try world.send("PUT", Self.admin + "document", body: bad)
        #expect(refused.status == 400)
        #expect(
            try told(refused)["detail"]?["faults"]?[0]?.text?.hasPrefix(
                "body:1:84: error: trees[0].pages[0].page takes") == true)
        #expect(world.server.document.users.isEmpty)
        #expect(world.server.am.store.sessions.find(session, now: world.now) != nil)
        let good = "users:\n  - { name: alice, password: one }\n"
        #expect(try world.send("PUT", Self.admin + "document", body: good).status == 200)
        #expect(world.server.am.store.sessions.find(session, now: world.now) == nil)
        #expect(try told(try world.send("GET", Self.admin + "document"))["users"]?[0]?["name"] == "alice")
        #expect(try world.answer(try world.start(), name: "alice", password: "one").status == 200)
    }

    @Test func aResetBringsTheStartBack() throws {
        var world = world()
        _ = try world.send("PUT", Self.admin + "users/alice", body: #"{"name":"alice","password":"one"}"#)
        let session = try world.signIn("alice", password: "one")
        #expect(try world.send("POST", Self.admin + "reset").status == 200)
        #expect(world.server.am.store.sessions.find(session, now: world.now) == nil)
        #expect(try world.answer(try world.start(), name: "alice", password: "one").status == 401)
        #expect(try told(try world.send("GET", "/sandbox/status"))["sessions"]?["created"] == 0)
    }

    @Test(arguments: [
        ("PUT", "users/alice", #"{"name":"bob","password":"x"}"#, 400, "is not that of the URL"),
        ("PUT", "users/alice", #"{"name":"alice"}"#, 400, "lacks the key"), ("PUT", "users/alice", "", 400, "is empty"),
        ("PUT", "policies/p", #"{"name":"p","path":"/shop","requires":{"tree":"Lgoin"}}"#, 400, "did you mean"),
        ("PATCH", "users/alice", "{}", 404, "There is no users/alice"), ("PUT", "users", "{}", 405, "Method"),
        ("GET", "things", "", 404, "not found"), ("GET", "reset", "", 405, "Method"),
        ("POST", "users/alice", "{}", 405, "Method"), ("PUT", "users/a/b", "{}", 404, "not found"),
        ("PUT", "users/alice", #"{"name":"alice","password":"${env.HOME}"}"#, 400, "HOME"),
        ("PUT", "users/alice", #"{"name":"alice","password":"${file:/etc/passwd}"}"#, 400, "passwd"),
    ])
    func refusalsSayWhy(method: String, path: String, body: String, status: Int, words: String) throws {
        var world = world()
        let answer = try world.send(method, Self.admin + path, body: body)
        #expect(answer.status == status)
        #expect(
            String(decoding: answer.body.content, as: UTF8.self).contains(words),
            "\(String(decoding: answer.body.content, as: UTF8.self))")
        #expect(world.server.document.users.isEmpty)
    }
}
