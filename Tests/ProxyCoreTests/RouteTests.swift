import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Requests through an upstream proxy")
struct RouteTests {
    private static let proxy = UpstreamProxy(host: "proxy.test", port: 8080)

    private func routes(_ entries: (String, UpstreamProxy?)...) -> Settings {
        settings { $0.routes = RouteTable(entries.map { .init(hosts: [$0.0], proxy: $0.1) }) }
    }

    // MARK: which way

    @Test func theFirstEntryThatFitsDecides() {
        let other = UpstreamProxy(host: "other.test", port: 3128)
        let table = RouteTable([
            .init(hosts: ["direct.corp.test", "10.0.0.1"], proxy: nil),
            .init(hosts: ["*.Corp.test", "corp.test"], proxy: Self.proxy), .init(hosts: ["*"], proxy: other),
        ])
        #expect(table.proxy(for: "a.corp.test") == Self.proxy && table.proxy(for: "A.CORP.TEST.") == Self.proxy)
        #expect(table.proxy(for: "corp.test") == Self.proxy && table.proxy(for: "acorp.test") == other)
        #expect(table.proxy(for: "direct.corp.test") == nil && table.proxy(for: "10.0.0.1") == nil)
        #expect(RouteTable().proxy(for: "a") == nil)
        #expect(RouteTable([.init(hosts: ["0:0::1"], proxy: other)]).proxy(for: "::1") == other)
    }

    @Test(arguments: [
        ("http://proxy.test:8080", "proxy.test:8080"), ("http://proxy.test:8080/", "proxy.test:8080"),
        ("HTTP://Proxy.Test", "proxy.test:80"), ("http://[::1]:3128", "[::1]:3128"),
        ("http://user:p%40ss:w%2Frd@proxy.test:1", "proxy.test:1"),
    ])
    func proxiesAreReadFromURLs(_ url: String, _ address: String) {
        #expect(UpstreamProxy(url)?.description == address)
    }

    @Test(arguments: [
        "proxy.test:8080", "https://proxy.test", "http://", "http://proxy.test/path", "http://proxy.test?q",
        "http://proxy.test:0", "http://us%3Aer:pass@proxy.test", "http://user:pa%0Ass@proxy.test", "socks://proxy.test",
    ])
    func whatIsNoProxy(_ url: String) { #expect(UpstreamProxy(url) == nil) }

    @Test func credentialsAreInNoText() throws {
        let proxy = try #require(UpstreamProxy("http://user:secret@proxy.test:8080"))
        let origin = Origin(scheme: .http, host: "a.test", port: 80, route: .forward(proxy))
        let texts = ["\(proxy)", "\(origin)", "\(Route.tunnel(proxy))", String(reflecting: origin.hop)]
        for text in texts + ["\(RouteTable([.init(hosts: ["*"], proxy: proxy)]))", String(reflecting: proxy)] {
            #expect(!text.contains("secret") && !text.contains("dXNlcjpzZWNyZXQ="), "\(text)")
        }
        #expect(proxy != UpstreamProxy("http://user:other@proxy.test:8080"))
        #expect(proxy == UpstreamProxy("http://user:secret@proxy.test:8080"))
    }

    // MARK: plain requests

    @Test(arguments: Delivery.all)
    func theProxyIsAskedForTheWholeURL(_ delivery: Delivery) throws {
        let proxy = try #require(UpstreamProxy("http://user:pass@proxy.test:8080"))
        let talk = Conversation(routes(("*.corp.test", proxy)), delivery: delivery)
        talk.client(
            "GET http://A.corp.test:81?q=1 HTTP/1.1\r\nHost: A.corp.test:81\r\nProxy-Authorization: Basic bWluZQ==\r\n\r\n"
        )
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.corp.test", port: 81, route: .forward(proxy)))
        talk.connects()
        #expect(
            talk.originGot()
                == "GET http://A.corp.test:81/?q=1 HTTP/1.1\r\nHost: A.corp.test:81\r\nVia: 1.1 usher\r\n"
                + "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.noted("sent on to the upstream proxy proxy.test:8080"))
        // straight to its origin, on the same client connection
        talk.client(get)
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 80))
        talk.connects()
        #expect(talk.originGot() == getForOrigin)
    }

    @Test func oneConnectionServesEveryOrigin() {
        let forward = Route.forward(Self.proxy)
        let one = Origin(scheme: .http, host: "a.test", port: 80, route: forward)
        let two = Origin(scheme: .http, host: "b.test", port: 81, route: forward)
        #expect(one.poolKey == two.poolKey && one.poolKey != Origin(scheme: .http, host: "a.test", port: 80).poolKey)
        let tunnel = Origin(scheme: .http, host: "a.test", port: 80, route: .tunnel(Self.proxy))
        #expect(tunnel.poolKey == tunnel && tunnel.poolKey != one.poolKey)
        #expect(one.hop == ("proxy.test", 8080))
    }

    @Test func questionsAboutTheWholeServer() {
        let talk = Conversation(routes(("*", Self.proxy)))
        talk.client("OPTIONS http://a.test HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        #expect(talk.originGot() == "OPTIONS http://a.test HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
    }

    @Test(arguments: Delivery.all)
    func theProxysDemandForCredentialsIsNotTheClients(_ delivery: Delivery) {
        let talk = Conversation(routes(("*", Self.proxy)), delivery: delivery)
        talk.client(get)
        talk.connects()
        talk.origin(
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 3\r\n\r\nwho")
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 502 ") && got.contains("error=proxy_configuration_error"))
        #expect(
            got.contains("received-status=407") && got.contains("the upstream proxy proxy.test:8080 wants a user name"))
        #expect(talk.driver.releases == [false] && talk.record.proxyError == "proxy_configuration_error")
    }

    @Test func theSameStatusOfAnOriginIsPassedOn() {
        let talk = Conversation()
        talk.exchange(get, "HTTP/1.1 407 Who\r\nContent-Length: 3\r\n\r\nwho")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 "))
    }

    @Test func aNewConfigurationChangesTheWay() {
        let talk = Conversation()
        talk.exchange(get, ok)
        talk.driver.adopt(routes(("a.test", Self.proxy)))
        talk.client(get)
        #expect(talk.driver.dialing?.route == .forward(Self.proxy))
        talk.connects()
        talk.origin(ok)
        talk.driver.adopt(Settings())
        talk.client(get)
        #expect(talk.driver.dials == 2 && talk.driver.origin?.origin.route == nil)
    }

    // MARK: tunnels

    @Test(arguments: Delivery.all)
    func tunnelsGoThroughATunnel(_ delivery: Delivery) {
        let talk = Conversation(routes(("a.test", Self.proxy)), delivery: delivery)
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 443, route: .tunnel(Self.proxy)))
        talk.connects()
        talk.client("\u{16}\u{3}\u{1}")
        #expect(talk.originGot() == "\u{16}\u{3}\u{1}")
    }

    @Test func plainRequestsInsideOfItAreOriginForm() {
        let talk = Conversation(routes(("a.test", Self.proxy)))
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        let first = talk.connects()
        talk.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.connection === first)
        #expect(talk.originGot() == "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
    }

    @Test(arguments: [
        (LeaseFailure.tunnelRefused(status: 403), "502", "destination_unavailable", "responded with status 403"),
        (.tunnelRefused(status: 407), "502", "proxy_configuration_error", "wants a user name and password"),
        (.timedOut, "504", "connection_timeout", "proxy.test:8080 made no tunnel to a.test:443 within"),
        (.refused("no"), "502", "connection_refused", "the upstream proxy proxy.test:8080 refused the connection: no"),
        (.loop, "508", "proxy_loop_detected", "the upstream proxy proxy.test:8080 is this proxy itself"),
        (.unresolvable("no"), "502", "dns_error", "the name proxy.test could not be resolved"),
        (.unresolvable("no", rcode: "NXDOMAIN"), "502", "dns_error", "; rcode=\"NXDOMAIN\""),
        (.unresolved, "504", "dns_timeout", "the name proxy.test could not be resolved: no name server responded"),
        (.overloaded, "503", "dns_error", "the name proxy.test was not looked up"),
        (.tooManyNames, "503", "dns_error", "too many others are waited for by this client"),
    ])
    func whatGoesWrongHasItsWords(_ failure: LeaseFailure, _ status: String, _ token: String, _ words: String) {
        let talk = Conversation(routes(("a.test", Self.proxy)))
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        talk.driver.dialFails(failure)
        let got = talk.clientGot()
        #expect(
            got.hasPrefix("HTTP/1.1 \(status) ") && got.contains("error=\(token);") && got.contains(words), "\(got)")
        if case .tunnelRefused(let received) = failure { #expect(got.contains("received-status=\(received)")) }
    }

    // MARK: the step-up

    @Test func callsToTheServerTakeTheirOwnWay() {
        var settings = stepUpSettings()
        settings.routes = RouteTable([.init(hosts: ["am.test"], proxy: Self.proxy)])
        let talk = Conversation(settings)
        talk.client(
            "GET http://shop.test/api/1 HTTP/1.1\r\nHost: shop.test\r\nCookie: iPlanetDirectoryPro=abc\r\n\r\n")
        #expect(talk.driver.dialing?.route == nil)
        talk.connects()
        talk.origin(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: SSOADVICE realm=\"/\",advices=\"eyJUcmFuc2FjdGlvbkNvbmRpdGlvbkFkdmljZSI6WyJ0eC0xIl19\",am_uri=\"http://am.test/am\"\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(talk.driver.dialing?.host == "am.test" && talk.driver.dialing?.route == .forward(Self.proxy))
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST http://am.test/am/json/"))
    }
}
