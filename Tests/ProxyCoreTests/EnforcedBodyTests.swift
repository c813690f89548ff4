import Authorization
import Interception
import Testing

@testable import ProxyCore

@Suite("Bodies and methods of enforced requests")
struct EnforcedBodyTests {
    typealias Up = SteppingUp

    private static func post(_ type: String, _ framing: String, host: String = "shop.test", path: String = "/api/cart")
        -> String
    {
        "POST http://\(host)\(path) HTTP/1.1\r\nHost: \(host)\r\n\(Up.session)\r\nContent-Type: \(type)\r\n\(framing)\r\n\r\n"
    }

    private func allows(_ talk: Conversation) {
        talk.connects()
        _ = talk.originGot()
        talk.origin(Enforced.decision())
        talk.connects()
    }

    // MARK: trailers

    private static let chunks = "3\r\na=b\r\n0\r\nX-HTTP-Method-Override: DELETE\r\niPlanetDirectoryPro: B\r\n\r\n"

    /// Servers may take them for fields of the head, which nobody was asked about.
    @Test(arguments: ["application/octet-stream", "application/x-www-form-urlencoded"])
    func trailersStayHere(_ type: String) {
        let talk = Enforced.talk(Self.post(type, "Transfer-Encoding: chunked") + Self.chunks)
        allows(talk)
        let got = talk.originGot()
        #expect(got.hasPrefix("POST /api/cart ") && got.contains("a=b"), "\(got)")
        #expect(!got.contains("Override") && !got.contains("iPlanetDirectoryPro: B"), "\(got)")
        talk.origin(ok)
        #expect(talk.clientGot() == Enforced.okForClient)
    }

    @Test func trailersStayHereWhereAnythingIsEnforced() {
        for (host, isDropped) in [("shop.test", true), ("other.test", false)] {
            let talk = Enforced.talk(
                Self.post("text/plain", "Transfer-Encoding: chunked", host: host, path: "/free") + Self.chunks)
            #expect(talk.driver.dialing?.host == host, "\(talk.notes)")
            talk.connects()
            #expect(talk.originGot().contains("Override") != isDropped)
        }
    }

    // MARK: bodies that pass

    private static func large(_ type: String, _ body: String) -> [String] {
        let filling = String(repeating: "x", count: 3000)
        return [post(type, "Content-Length: \(body.utf8.count + 6000)") + filling, body, filling]
    }

    private func passes(_ pieces: [String], _ delivery: Delivery = .whole) -> Conversation {
        let talk = Conversation(
            Enforced.settings { $0.maxBodyBytes = 1024 }, cookies: DryCredentials<CookieSessions>(),
            decisions: Decisions(),
            delivery: delivery)
        talk.driver.tell(time: 1_000_000)
        talk.client(pieces[0])
        guard talk.driver.dialing != nil else { return talk }
        allows(talk)
        for piece in pieces.dropFirst() { talk.client(piece) }
        return talk
    }

    @Test(
        arguments: [
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\nDELETE\r\n"
            ),
            ("application/json", "\",\"\\u005fmethod\" : \"DELETE\",\"a\":\""),
        ], Delivery.all)
    func anotherMethodInABodyThatPasses(_ sample: (type: String, body: String), _ delivery: Delivery) {
        let talk = passes(Self.large(sample.type, sample.body), delivery)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 400 ") && got.contains("_method"), "\(got) \(talk.notes)")
        #expect(!talk.originGot().contains("DELETE"))
    }

    /// It stands across two pieces.
    @Test func anotherMethodInPieces() {
        var pieces = Self.large(
            "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\n")
        let body = pieces[1]
        pieces.replaceSubrange(1...1, with: [String(body.prefix(46)), String(body.dropFirst(46))])
        #expect(passes(pieces).clientGot().hasPrefix("HTTP/1.1 400 "))
    }

    @Test(arguments: [
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n_method=DELETE\r\n"
        ),
        ("application/json", "\",\"a\":\"_method"), ("application/octet-stream", "name=\"_method\""),
    ])
    func whatIsHarmlessPasses(_ type: String, _ body: String) {
        let pieces = Self.large(type, body)
        let talk = passes(pieces)
        let got = talk.originGot()
        #expect(got.hasSuffix(body + String(repeating: "x", count: 3000)), "\(talk.notes)")
        talk.origin(ok)
        #expect(talk.clientGot() == Enforced.okForClient)
    }

    @Test(arguments: ["application/x-www-form-urlencoded", "application/x-unheard-of"])
    func aLargeFormDoesNot(_ type: String) {
        let talk = passes(Self.large(type, "&a=b&"))
        #expect(talk.clientGot().contains("authorization.body_limit") && talk.driver.dials == 0, "\(talk.notes)")
    }

    /// The body that goes out counts, not the one that came.
    @Test func aBodyThatInterceptorsMake() {
        var settings = Enforced.settings()
        settings.rules = [
            Rule(
                name: "form", when: .test(.host, [.exact("shop.test")]),
                request: [SetBody(Array("_method=DELETE".utf8), contentType: "application/x-www-form-urlencoded")])
        ]
        let talk = Enforced.talk(settings, Decisions(), Self.post("application/json", "Content-Length: 2") + "{}")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 400 ") && talk.driver.dials == 0, "\(talk.notes)")
    }

    // MARK: where it goes

    /// What one AM has to decide is not for another to say.
    @Test func anotherAMsResource() {
        var settings = Enforced.settings()
        var other = settings.authorization[0]
        other.server = AuthorizationServer(url: "http://am.other.test/am", host: "am.other.test", realms: ["/"])
        other.resources = [.init(url: "http://pay.test/*")]
        other.resources[0].isEnforced = true
        settings.authorization.append(other)
        settings.rules = [
            Rule(name: "move", when: .test(.path, [.exact("/api/cart")]), request: [SetHost("pay.test")])
        ]
        let talk = Enforced.talk(settings)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("interceptors send"), "\(got) \(talk.notes)")
        #expect(talk.driver.dials == 0 && talk.driver.dialing == nil)
    }

    // MARK: whose it is

    /// Django strips what it takes for white space, PHP ends names, and Rack decodes them.
    @Test(arguments: [
        "iPlanetDirectoryPr%6F", "iPlanetDirectoryPro[]", "iPlanetDirectoryPro%00", "\u{A0}iPlanetDirectoryPro",
    ])
    func anotherSessionInDisguise(_ name: String) {
        let talk = Enforced.talk(Up.get.replacing("SESSION-A", with: "SESSION-A; \(name)=SESSION-B"))
        let got = talk.clientGot()
        #expect(
            got.hasPrefix("HTTP/1.1 400 ") && got.contains("several sessions") && talk.driver.dialing == nil, "\(got)")
    }

    /// A client takes away by Connection what tells which page it is that asks.
    @Test(arguments: ["Origin: https://evil.test", "Referer: https://evil.test/", "Sec-Fetch-Site: cross-site"])
    func thePageStaysKnown(_ field: String) {
        let name = field.prefix { $0 != ":" }
        let talk = Enforced.talk(
            Up.get.replacing("\r\n\r\n", with: "\r\n\(field)\r\nConnection: \(name), X-Own\r\nX-Own: 1\r\n\r\n"))
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.transaction))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 ") && talk.driver.dialing == nil, "\(talk.notes)")
        let allowed = Enforced.talk(
            Up.get.replacing("\r\n\r\n", with: "\r\n\(field)\r\nConnection: \(name), X-Own\r\nX-Own: 1\r\n\r\n"))
        allows(allowed)
        let got = allowed.originGot()
        #expect(got.contains("\(field)\r\n") && !got.contains("X-Own"), "\(got)")
    }
}
