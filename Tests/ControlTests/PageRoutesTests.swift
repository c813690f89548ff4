import Control
import Formats
import HTTPCodec
import Testing

/// Who gets the page, and by what.
struct PageRoutesTests {
    private final class Desk {
        var access = PageAccess()
        var wishes: [UInt16?] = []
    }

    private let desk = Desk()

    private func router(_ files: [PageFile] = []) -> ControlRouter {
        let desk = desk
        return ControlRouter(
            PageRoutes(
                files,
                link: { port, request throws(ControlProblem) in
                    desk.wishes.append(port)
                    return PageLink(
                        port: port ?? 4000, key: try desk.access.key(isOwner: request.isOwner, now: request.now))
                }, token: { desk.access.token(for: $0, now: $1) }
            ).all)
    }

    private func post(
        _ path: String, _ body: String, at entrance: ControlDoor.Entrance, isOwner: Bool = false, now: Int = 0
    ) -> ControlAnswer {
        var fields = FieldTable()
        fields.add("Content-Type", "application/json")
        var request = ControlRequest("POST", path, fields: fields, body: Array(body.utf8), now: now)
        (request.entrance, request.isOwner) = (entrance, isOwner)
        return router().answer(request)
    }

    private func key(isOwner: Bool, now: Int = 0) throws -> String {
        let url = try #require(post("/v1/page/links", "", at: .socket, isOwner: isOwner, now: now).body["url"]?.text)
        return try #require(url.split(separator: "=").last.map(String.init))
    }

    private func enter(_ key: String, at entrance: ControlDoor.Entrance = .page, now: Int = 0) -> ControlAnswer {
        post("/v1/page/login", JSONValue.object([.init("key", .string(key))]).serialized, at: entrance, now: now)
    }

    @Test("A key gives the token of whoever asked for the link, once")
    func keys() throws {
        let (owner, member) = (try key(isOwner: true), try key(isOwner: false))
        #expect(enter(member).body["token"]?.text == desk.access.tokens.member)
        #expect(enter(owner).body["token"]?.text == desk.access.tokens.owner)
        #expect(desk.access.tokens.member != desk.access.tokens.owner)
        for key in [owner, member, "", owner + "x", String(owner.dropLast())] { #expect(enter(key).status == 403) }
    }

    @Test("A key is good for two minutes, and its place is free afterwards")
    func age() throws {
        let first = try key(isOwner: false, now: 5)
        for now in 0..<15 { _ = try key(isOwner: false, now: 6 + now) }
        let refused = post("/v1/page/links", "{}", at: .socket, now: 1_005)
        #expect(refused.status == 429 && refused.fields.contains(.init("Retry-After", "119")))
        #expect(enter(first, now: 5 + PageAccess.life).status == 403)
        #expect(post("/v1/page/links", "{}", at: .socket, now: 5 + PageAccess.life).status == 200)
        let last = try key(isOwner: false, now: 1_000_000)
        #expect(enter(last, now: 1_000_000 + PageAccess.life - 1).status == 200)
    }

    @Test("Links are made at the socket, and keys taken at the page")
    func places() throws {
        for entrance in [ControlDoor.Entrance.port, .page] {
            #expect(post("/v1/page/links", "{}", at: entrance).status == 403)
        }
        let made = try key(isOwner: true)
        for entrance in [ControlDoor.Entrance.port, .socket] { #expect(enter(made, at: entrance).status == 403) }
        #expect(enter(made).status == 200)
        #expect(post("/v1/page/links", #"{"port":4711}"#, at: .socket).body["port"]?.integer == 4711)
        #expect(desk.wishes == [nil, 4711])
        for odd in [#"{"port":0}"#, #"{"port":65536}"#, #"{"port":"x"}"#, #"{"x":1}"#] {
            #expect(post("/v1/page/links", odd, at: .socket).status == 422)
        }
    }

    @Test("Files are open, what they are is told, and no other site can use them")
    func files() throws {
        let router = router([
            PageFile("index.html", type: "text/html; charset=utf-8", Array("page".utf8)),
            PageFile("app.js", type: "text/javascript", Array("code".utf8)),
        ])
        let page = router.answer(ControlRequest("GET", "/"))
        guard case .bytes(let bytes, let type) = page.content else { throw Odd() }
        #expect(bytes == Array("page".utf8) && type == "text/html; charset=utf-8")
        let policy = try #require(page.fields.first { $0.name == "Content-Security-Policy" }?.value)
        #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("unsafe"))
        #expect(page.fields.contains(.init("X-Frame-Options", "DENY")))
        #expect(router.isOpen([""]) && router.isOpen(["app.js"]) && router.isOpen(["v1", "page", "login"]))
        #expect(!router.isOpen(["v1", "page", "links"]) && !router.isOpen(["app.css"]) && !router.isOpen([]))
        #expect(router.answer(ControlRequest("GET", "/app.css")).status == 404)
        let missing = self.router().answer(ControlRequest("GET", "/"))
        guard case .bytes(let words, _) = missing.content else { throw Odd() }
        #expect(String(decoding: words, as: UTF8.self).contains("scripts/web"))
    }

    private struct Odd: Error {}

    @Test("At the page's port, one token makes its bearer the owner")
    func owners() {
        let door = ControlDoor.network(
            .init(
                address: "127.0.0.1", port: 4000, token: ControlToken(Array("member".utf8)),
                ownerToken: ControlToken(Array("owner".utf8))))
        func request(_ token: String) -> ControlRequest? {
            var codec = ControlCodec(door)
            var position = 0
            let text = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nAuthorization: Bearer \(token)\r\n\r\n"
            guard case .request(let request) = codec.next(Array(text.utf8), &position, now: 0) else { return nil }
            return request
        }
        #expect(request("owner")?.isOwner == true && request("member")?.isOwner == false && request("other") == nil)
        #expect(request("owner")?.entrance == .page)
    }
}
