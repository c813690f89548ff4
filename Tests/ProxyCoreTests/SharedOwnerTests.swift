import Addresses
import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Whose sessions and tokens go along with whose requests, and when they do no more.
@Suite("The owners of shared sessions and tokens")
struct SharedOwnerTests {
    typealias Up = SteppingUp

    private static let plain = "GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\r\n"

    private let model = SessionModel()

    private func settings(_ change: (inout AuthorizationPolicy) -> Void = { _ in }) -> Settings {
        stepUpSettings {
            $0.sessions.source = .learned
            change(&$0)
        }
    }

    private func connect(_ talk: Conversation) { if talk.driver.dialing != nil { talk.connects() } }

    private func ask(_ talk: Conversation, _ request: String, _ answer: String) {
        model.turn(talk)
        talk.client(request)
        connect(talk)
        talk.origin(answer)
        _ = (talk.originGot(), talk.clientGot())
    }

    /// The client signs in at AM itself.
    private func signIn(_ talk: Conversation, _ token: String, _ fields: String = "", _ answered: String = "") {
        ask(
            talk,
            "POST http://am.test/am/json/authenticate HTTP/1.1\r\nHost: am.test\r\n\(fields)Content-Length: 0\r\n\r\n",
            Up.json("{\"tokenId\":\"\(token)\"}", fields: answered))
    }

    /// The session that a request goes out with which carries none.
    private func shown(_ talk: Conversation, _ fields: String = "", answer: String = ok) -> String {
        model.turn(talk)
        talk.client(Self.plain.replacing("\r\n\r\n", with: "\r\n\(fields)\r\n"))
        connect(talk)
        let sent = talk.originGot()
        #expect(sent.hasPrefix("GET /api/cart "), "\(sent) \(talk.notes)")
        talk.origin(answer)
        _ = talk.clientGot()
        let line = sent.split(separator: "\r\n").first { $0.hasPrefix("Cookie: iPlanetDirectoryPro=") }
        return line.map { String($0.dropFirst("Cookie: iPlanetDirectoryPro=".count)) } ?? "none"
    }

    // MARK: sessions

    @Test func eachAddressHasItsOwn() {
        let clients = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"].map { model.client(settings(), $0) }
        signIn(clients[0], "A")
        signIn(clients[2], "C")
        #expect(clients.map { shown($0) } == ["A", "none", "C", "none"])
        signIn(clients[1], "B")
        #expect(clients.map { shown($0) } == ["A", "B", "C", "none"])
    }

    @Test func eachNameHasItsOwnAtItsAddress() {
        let named = settings { $0.sessions.identity = .header("X-Client") }
        let (one, other) = (model.client(named, "192.0.2.1"), model.client(named, "192.0.2.2"))
        signIn(one, "A", "X-Client: tablet\r\n")
        #expect(shown(one, "X-Client: tablet\r\n") == "A" && shown(one, "X-Client: phone\r\n") == "none")
        #expect(shown(one) == "none", "nothing says whose it is")
        // whoever makes the name up is another address's
        #expect(shown(other, "X-Client: tablet\r\n") == "none")
    }

    @Test func aUserIsItselfWhereverItComesFrom() throws {
        let address = try #require(IPAddress("192.0.2.1"))
        func who(_ identity: SessionPolicy.Identity, user: String?, _ name: String? = nil) -> [String]? {
            var head = RequestHead()
            if let name { head.fields.add("X-Client", name) }
            return RequestSender(address: address, user: user).learned(identity, head).map { [$0.owner, $0.name] }
        }
        #expect(who(.client, user: "ada") == ["user ada", ""] && who(.client, user: nil) == ["address 192.0.2.1", ""])
        #expect(who(.user, user: "ada") == ["user ada", ""] && who(.user, user: nil) == nil)
        #expect(who(.address, user: "ada") == ["address 192.0.2.1", ""])
        #expect(who(.header("X-Client"), user: "ada", "x") == ["user ada", "x"])
        #expect(who(.header("X-Client"), user: nil, "x") == ["address 192.0.2.1", "x"])
        #expect(who(.header("X-Client"), user: "ada") == nil && who(.header("X-Client"), user: "ada", "") == nil)
    }

    /// A page of another site that may read AM's answer has what it won, and nobody else does.
    @Test func whatAPageWinsIsThatPages() {
        let talk = model.client(settings())
        let page = "Origin: https://page.test\r\nSec-Fetch-Site: cross-site\r\n"
        signIn(talk, "P", page, "Access-Control-Allow-Origin: https://page.test\r\n")
        #expect(shown(talk) == "none" && shown(talk, page) == "P")
        #expect(shown(talk, page.replacing("page.test", with: "other.test")) == "none")
        // one that AM does not let read its answer wins nothing
        signIn(talk, "Q", page.replacing("page.test", with: "blind.test"))
        #expect(shown(talk, page.replacing("page.test", with: "blind.test")) == "none")
    }

    /// The session is over, whoever signs out with it.
    @Test func aSessionsEndIsTheEndForAll() {
        let (one, other) = (model.client(settings(), "192.0.2.1"), model.client(settings(), "192.0.2.2"))
        signIn(one, "A")
        signIn(other, "A")
        let left = model.client(settings(), "192.0.2.3")
        signIn(left, "B")
        ask(
            one,
            "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\n"
                + "Cookie: iPlanetDirectoryPro=A\r\nContent-Length: 0\r\n\r\n", Up.json("{}"))
        #expect([one, other, left].map { shown($0) } == ["none", "none", "B"])
    }

    /// It does not say which session it ends: it is this client's own.
    @Test func whoLeavesWithoutANameLeavesAlone() {
        let (one, other) = (model.client(settings(), "192.0.2.1"), model.client(settings(), "192.0.2.2"))
        signIn(one, "A")
        signIn(other, "B")
        ask(
            one, "GET http://am.test/am/oauth2/connect/endSession HTTP/1.1\r\nHost: am.test\r\n\r\n",
            "HTTP/1.1 204 Gone\r\n\r\n")
        #expect(shown(one) == "none" && shown(other) == "B")
    }

    /// The resource asks for a sign-in all the same: the session is none any more.
    @Test func whatTheResourceRefusesIsShownOnce() {
        let (one, other) = (model.client(settings(), "192.0.2.1"), model.client(settings(), "192.0.2.2"))
        signIn(one, "A")
        signIn(other, "B")
        let signIn = "HTTP/1.1 302 Found\r\nLocation: http://am.test/am/?goto=x\r\nContent-Length: 0\r\n\r\n"
        #expect(shown(one, answer: signIn) == "A" && shown(one) == "none" && shown(other) == "B")
    }

    /// What another AM says is no word of this one.
    @Test func eachServerHasItsOwn() {
        var both = settings()
        let far = AuthorizationServer(url: "http://am.test/other", host: "am.test", realms: ["/"])
        var policy = AuthorizationPolicy(resources: [.init(url: "http://far.test/api/*")], server: far)
        policy.sessions.source = .learned
        both.servers.append(far)
        both.authorization.append(policy)
        let talk = model.client(both)
        ask(
            talk, "POST http://am.test/other/json/authenticate HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n",
            Up.json("{\"tokenId\":\"F\"}"))
        // by the entry of its AM alone
        #expect(talk.notes.count { $0.contains("goes along from here on") } == 1, "\(talk.notes)")
        #expect(shown(talk) == "none")
        signIn(talk, "A")
        #expect(shown(talk) == "A")
    }

    /// AM puts another session in the place of one that the request carried itself: it is that which was learned.
    @Test func anUpgradeIsLearnedToo() {
        let (one, other) = (model.client(settings(), "192.0.2.1"), model.client(settings(), "192.0.2.2"))
        signIn(one, "SESSION-A")
        signIn(other, "SESSION-O")
        model.turn(one)
        one.client(Up.get)
        connect(one)
        #expect(one.originGot().contains("SESSION-A"))
        one.origin(Up.refused(Up.upgrade))
        one.connects()
        one.origin(
            Up.json("{\"tokenId\":\"SESSION-B\"}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"))
        connect(one)
        #expect(one.originGot().contains("SESSION-B"))
        one.origin(ok)
        #expect(one.clientGot().contains("200 OK"))
        #expect(shown(one) == "SESSION-B" && shown(other) == "SESSION-O")
    }

    // MARK: tokens

    /// - Returns: what goes out to the resource, or "asks" where AM is asked for a token.
    private func token(
        _ tokens: DryTokens, _ source: TokenSource, from address: String, session: String, _ name: String = "c"
    ) throws -> String {
        var settings = Settings()
        settings.tokens = TokenPolicy([source])
        let talk = Conversation(settings, tokens: tokens, source: ClientSource(address: IPAddress(address)))
        talk.driver.tell(time: 1_000_000)
        talk.client(
            Self.plain.replacing(
                "\r\n\r\n", with: "\r\nX-Client: \(name)\r\nCookie: iPlanetDirectoryPro=\(session)\r\n\r\n"))
        talk.connects()
        let sent = talk.originGot()
        if sent.contains("/oauth2/") { return "asks" }
        let line = sent.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }
        return line.map { String($0.dropFirst("Authorization: Bearer ".count)) } ?? "none"
    }

    /// A token that the code flow won with one session is that client's in that session.
    @Test(arguments: [TokenSettings.Naming.address, .header("X-Client")])
    func aCodesTokenIsOneClientsInOneSession(_ naming: TokenSettings.Naming) throws {
        let source = LoginScene.source {
            $0.manner = .code
            $0.naming = naming
        }
        let tokens = DryTokens()
        let client: TokenClient =
            naming == .address
            ? .address(try #require(IPAddress("192.0.2.1"))) : .named(TokenDigest.of("x-client: c"))
        tokens.change {
            $0.put(
                TokenGrant(access: "t"), TokenKey(source, .client(client, session: TokenDigest.of("A"))),
                LoginTime(milliseconds: 0, seconds: 1_000_000))
        }
        #expect(try token(tokens, source, from: "192.0.2.1", session: "A") == "t")
        #expect(try token(tokens, source, from: "192.0.2.1", session: "B") == "asks")
        let elsewhere = try token(tokens, source, from: "192.0.2.2", session: "A", "d")
        #expect(elsewhere == "asks", "whoever has the session is no such client")
    }

    @Test func anEntrysOwnTokenIsThatEntrys() throws {
        let source = LoginScene.source()
        let tokens = DryTokens()
        tokens.change {
            $0.put(TokenGrant(access: "t"), TokenKey(source), LoginTime(milliseconds: 0, seconds: 1_000_000))
        }
        #expect(try token(tokens, source, from: "192.0.2.1", session: "A") == "t")
        #expect(try token(tokens, LoginScene.source { $0.scope = "s" }, from: "192.0.2.1", session: "A") == "asks")
    }

    // MARK: cookies

    /// One login at each scheme and port of a host: what one of them set another one does not get.
    @Test func aLoginsCookieIsOneOrigins() {
        var settings = Settings()
        settings.rules = [LoginScene.rule()]
        let cookies = DryCredentials<CookieSessions>()
        func begin(_ authority: String) -> Conversation {
            let talk = Conversation(settings, cookies: cookies)
            talk.driver.tell(time: 1_000_000)
            talk.client("GET http://\(authority)/api/cart HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            talk.connects()
            return talk
        }
        let first = begin("shop.test")
        first.origin(LoginScene.cookie.granted("c"))
        #expect(begin("shop.test").originGot().contains("AuthSession=c"))
        let other = begin("staging.test")
        #expect(other.originGot().hasPrefix("POST /_session "), "\(other.notes)")
    }
}
