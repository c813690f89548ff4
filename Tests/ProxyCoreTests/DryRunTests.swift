import HTTPCodec
import Interception
import Passwords
import Testing

@testable import ProxyCore

@Suite("A request without a network")
struct DryRunTests {
    private func run(
        _ message: String, in tunnel: Origin? = nil, _ settings: Settings = Settings(),
        _ destinations: DestinationPolicy = DestinationPolicy(), _ origin: DryOrigin = .silent
    ) -> DryRun {
        DryRun(
            .bytes(Array(message.utf8)), in: tunnel, settings,
            pages: OwnPages(["/": .init(type: "text/plain", body: Array("here".utf8))]), destinations: destinations,
            origin: origin)
    }

    /// The head as it would stand on the wire, and the body.
    private func sent(_ dryRun: DryRun) -> String? {
        guard case .sent(let head, let body) = dryRun.outcome else { return nil }
        let lines = head.fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "\(head.methodText) \(head.targetText) HTTP/1.1\r\n\(lines)\r\n" + String(decoding: body, as: UTF8.self)
    }

    private func status(_ dryRun: DryRun) -> Int? {
        if case .answered(let status) = dryRun.outcome { status } else { nil }
    }

    private func words(_ dryRun: DryRun) -> String? {
        for case .failed(_, let details) in dryRun.events { return details }
        return nil
    }

    private static let rules: [Rule] = [
        .init(name: "tag", request: [SetHeader([.init("X-In", "1")]), SetQuery([.init("q", "2")])]),
        .init(name: "move", when: .test(.path, [.exact("/move")]), request: [SetURL("http://b.test:81/z")]),
    ]
    private static let form = "Host: shop.test\r\nContent-Length: 3\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\na=b"

    @Test(arguments: [
        get, "GET http://a.test/move HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "POST http://shop.test/api/x HTTP/1.1\r\n\(form)",
        "POST http://shop.test/else HTTP/1.1\r\nExpect: 100-continue\r\n\(form)",
        "GET http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\nx-authenticate-response: redirect\r\n\r\n",
        "POST http://a.test/ HTTP/1.0\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx",
    ])
    func itIsWhatTheOriginGets(_ message: String) {
        var settings = stepUpSettings()
        settings.rules = Self.rules
        let talk = Conversation(settings)
        talk.client(message)
        talk.connects()
        let dryRun = run(message, settings)
        #expect(sent(dryRun) == talk.originGot())
        #expect(dryRun.interceptors?.map(\.matched) == [true, message.contains("/move")])
    }

    @Test func aTunnelIsEntered() {
        let origin = Origin(scheme: .https, host: "a.test", port: 443)
        let opened = settings { $0.interception.hosts = [DestinationPattern("a.test")].compactMap { $0 } }
        for message in [
            "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET https://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n",
        ] {
            let dryRun = run(message, in: origin, opened)
            #expect(sent(dryRun) == "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
            if case .sent(let head, _) = dryRun.outcome { #expect(head.url == "https://a.test/x") }
            #expect(dryRun.closed == nil && run(message, in: origin).closed == .intercept)
            #expect(sent(run(message, in: origin)) == sent(dryRun))
        }
    }

    @Test func aTunnelThatIsRefused() {
        let narrow = settings {
            $0.routes.connectPorts = [443]
            $0.rules = Self.rules
        }
        let dryRun = run(
            "GET / HTTP/1.1\r\nHost: a.test:8443\r\n\r\n", in: Origin(scheme: .https, host: "a.test", port: 8443),
            narrow)
        #expect(status(dryRun) == 403 && dryRun.interceptors == nil)
        #expect(words(dryRun)?.contains("connect_ports") == true)
    }

    @Test(
        "The destination policy applies",
        arguments: [
            ("http://a.test/", nil, "destinations.deny holds a.test"), ("http://b.test/", nil, nil),
            ("http://10.0.0.1/", nil, "destinations.deny holds 10.0.0.0/8"),
            ("http://[::ffff:10.0.0.1]/", nil, "destinations.deny holds 10.0.0.0/8"), ("http://1/", nil, "is a number"),
            ("http://b.test/move", nil, "destinations.deny holds b.test:81"),
            ("https://a.test/", Origin(scheme: .https, host: "a.test", port: 443), "destinations.deny holds a.test"),
            ("https://b.test/", Origin(scheme: .https, host: "b.test", port: 443), nil),
        ] as [(String, Origin?, String?)])
    func destinations(_ url: String, _ tunnel: Origin?, _ reason: String?) {
        let policy = DestinationPolicy(
            allow: ["*"].compactMap { DestinationPattern($0) },
            deny: ["a.test", "b.test:81", "10.0.0.0/8"].compactMap { DestinationPattern($0) })
        let host = url.split(separator: "/")[1]
        let rules = settings { $0.rules = Self.rules }
        for origin in [DryOrigin.silent, .always(.bytes(Array(ok.utf8)))] {
            let dryRun = run("GET \(url) HTTP/1.1\r\nHost: \(host)\r\n\r\n", in: tunnel, rules, policy, origin)
            #expect((status(dryRun) == 403) == (reason != nil) && dryRun.sent.isEmpty == (reason != nil))
            if let reason { #expect(words(dryRun)?.contains(reason) == true) }
        }
    }

    @Test func theProxyOnTheWayIsJudgedByItsAddress() throws {
        let proxy = try #require(UpstreamProxy("http://10.0.0.1:3128"))
        let routed = settings { $0.routes = RouteTable([.init(hosts: ["a.test"], proxy: proxy)]) }
        let policy = DestinationPolicy(
            allow: ["*"].compactMap { DestinationPattern($0) },
            deny: ["10.0.0.0/8"].compactMap { DestinationPattern($0) })
        #expect(status(run(get, in: nil, routed, policy)) == 403 && status(run(get, in: nil, routed)) == nil)
    }

    @Test func theKeyThatLeavesATunnelClosed() {
        let excepted = settings {
            $0.interception.hosts = ["*.test"].compactMap { DestinationPattern($0) }
            $0.interception.except = ["a.test"].compactMap { DestinationPattern($0) }
        }
        let message = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n"
        #expect(run(message, in: Origin(scheme: .https, host: "a.test", port: 443), excepted).closed == .except)
        #expect(run(message, in: Origin(scheme: .https, host: "a.example", port: 443), excepted).closed == .intercept)
    }

    @Test func aConnectIsATunnel() {
        if case .tunnel = run("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").outcome { return }
        Issue.record("no tunnel")
    }

    @Test func noPasswordIsWanted() {
        let guarded = settings {
            $0.users = PasswordTable(htpasswd: "") { line, _ in Issue.record("line \(line)") }
        }
        #expect(sent(run(get, guarded)) == getForOrigin)
    }

    @Test(arguments: [
        ("GET http://usher.proxy/ HTTP/1.1\r\nHost: usher.proxy\r\n\r\n", 200),
        ("GET http://usher.proxy/none HTTP/1.1\r\nHost: usher.proxy\r\n\r\n", 404),
        ("TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n\r\n", 200),
        ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n", 508),
        ("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
        ("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 11\r\n\r\nhello world", 413),
        ("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nhello", 400),
    ])
    func answeredHere(_ message: String, _ expected: Int) {
        let dryRun = run(message, settings { $0.limits.body = 10 })
        #expect(status(dryRun) == expected && dryRun.classification == nil)
    }

    @Test func anInterceptorAnswers() {
        let answer = DirectResponse(status: 418, headers: [], body: [])
        let dryRun = run(get, settings { $0.rules = [.init(name: "stop", request: [Respond(answer)])] })
        #expect(status(dryRun) == 418)
        #expect(dryRun.events.contains(.responded(interceptor: "stop", status: 418)))
        #expect(dryRun.interceptors?.first?.matched == true)
    }

    @Test func aBodyIsReadAsFarAsItWouldBe() {
        func authenticate(_ count: Int) -> DryRun {
            let body = #"{"authId":"x"}"# + String(repeating: " ", count: count - 14)
            return run(
                "POST http://am.test/am/json/authenticate HTTP/1.1\r\nHost: am.test\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(count)\r\n\r\n\(body)", settings { $0.servers = [server] })
        }
        let small = authenticate(100)
        let large = authenticate(Classifier.bodyPeek + 1)
        #expect(small.classification?.evidence != large.classification?.evidence)
        #expect(sent(large)?.hasSuffix(String(repeating: " ", count: Classifier.bodyPeek + 1 - 14)) == true)
    }

    @Test func aBodyThatDoesNotEnd() {
        let message = "POST http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 9\r\n\r\nabc"
        if case .incomplete = run(message, stepUpSettings()).outcome { return }
        Issue.record("it is told of as though it were whole")
    }

    @Test(arguments: ["\r\nabc", "Content-Length: 4\r\n\r\nabc"])
    func anAnswerThatIsCutShortIsNotWhole(_ rest: String) throws {
        let asked = try RequestHead(method: "GET", url: "http://a.test/")
        let bytes = Array("HTTP/1.1 200 OK\r\n\(rest)".utf8)
        let (ended, cut) = (
            try #require(DryResponse(reading: bytes, to: asked)),
            try #require(DryResponse(reading: bytes, to: asked, endsCleanly: false))
        )
        #expect(ended.isWhole == !rest.contains("Length") && !cut.isWhole)
        #expect([ended, cut].allSatisfy { $0.body == Array("abc".utf8) })
    }

    @Test func theProtectedResource() {
        let message = "GET http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\n"
        #expect(run("\(message)\r\n", stepUpSettings()).resource == "http://shop.test/api/*")
        let left = run("\(message)x-authenticate-response: header\r\n\r\n", stepUpSettings())
        #expect(left.resource == "http://shop.test/api/*" && left.events.contains(.leftToClient))
    }

    @Test func thePasswordOfAnUpstreamProxyIsNotShown() throws {
        let proxy = try #require(UpstreamProxy("http://me:secret@up.test:3128"))
        let dryRun = run(get, settings { $0.routes = RouteTable([.init(hosts: ["a.test"], proxy: proxy)]) })
        let text = try #require(sent(dryRun))
        #expect(text.hasPrefix("GET http://a.test/ HTTP/1.1\r\n"))
        #expect(text.contains("Proxy-Authorization: REDACTED\r\n") && !text.contains("Basic"))
        #expect(dryRun.events == [.routed(by: "the upstream proxy up.test:3128")])
    }
}
