import Authorization
import Configuration
import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Names beyond ASCII") struct InternationalNameTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("münchen.example", "xn--mnchen-3ya.example"),
        ("MÜNCHEN.Example", "xn--mnchen-3ya.Example"), ("*.bücher.example:443", "*.xn--bcher-kva.example:443"),
        ("faß.example", "xn--fa-hia.example"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("例え。テスト:8443", "xn--r8jz45g.xn--zckzah:8443"), ("xn--bogus!.example", "xn--bogus!.example"),
        ("mu\u{308}nchen.example.", "xn--mnchen-3ya.example."), ("", ""),
    ])
    func hosts(_ written: String, _ name: String) throws {
        #expect(try InternationalName.ascii(host: written) == name)
    }

    @Test(arguments: [
        ("https://münchen.example/straße?ä=ö", "https://xn--mnchen-3ya.example/straße?ä=ö"),
        ("http://user:pässword@münchen.example:81", "http://user:pässword@xn--mnchen-3ya.example:81"),
        ("https://*.bücher.example", "https://*.xn--bcher-kva.example"), ("*/münchen/*", "*/münchen/*"),
        ("http://a.example/münchen", "http://a.example/münchen"),
    ])
    func urls(_ written: String, _ url: String) throws {
        #expect(try InternationalName.ascii(url: written) == url)
    }

    @Test(arguments: ["mün*.example", "\u{2028}.example", "ü\u{0}.example", String(repeating: "ü", count: 64)])
    func without(_ written: String) {
        #expect(throws: InternationalName.Fault.self) { try InternationalName.ascii(host: written) }
    }

    @Test("They are converted wherever a configuration names a host")
    func configuration() throws {
        let snapshot = try snapshot(
            """
            version: 1
            am: [{ url: "https://am.münchen.example/am" }]
            destinations:
              deny: ["böse.example", "*.böse.example:80"]
              via: [{ host: "*.münchen.example", proxy: "http://zugang.münchen.example:8080" }]
            tls:
              intercept: ["*.münchen.example."]
              except: bücher.münchen.example
            interceptors:
              - name: a
                when: { host: [bücher.example, "*.Bücher.example."] }
                request: [{ set_header: { X-A: "1" } }]
              - name: b
                request: [{ set_host: "münchen.example:81" }, { set_cookie: { name: a, value: b, domain: .münchen.example. } }]
            authorization:
              am: "https://am.münchen.example/am"
              resources: ["https://shop.münchen.example/api/*"]
            """)
        #expect(snapshot.settings.servers.map(\.host) == ["am.xn--mnchen-3ya.example"])
        #expect(snapshot.settings.servers.map(\.url) == ["https://am.xn--mnchen-3ya.example/am"])
        #expect(!snapshot.destinations.permits(host: "xn--bse-sna.example", port: 443).isPermitted)
        #expect(!snapshot.destinations.permits(host: "xn--bse-sna.example.", port: 443).isPermitted)
        #expect(!snapshot.destinations.permits(host: "a.xn--bse-sna.example", port: 80).isPermitted)
        #expect(
            snapshot.settings.routes.proxy(for: "a.xn--mnchen-3ya.example")?.description
                == "zugang.xn--mnchen-3ya.example:8080")
        #expect(snapshot.settings.interception.opens("am.xn--mnchen-3ya.example", port: 443))
        #expect(!snapshot.settings.interception.opens("xn--bcher-kva.xn--mnchen-3ya.example", port: 443))
        #expect(
            snapshot.settings.authorization.first?.resources.first?.url == "https://shop.xn--mnchen-3ya.example/api/*")
        let request = try RequestHead(method: "GET", url: "http://a.xn--bcher-kva.example/")
        #expect(Engine(snapshot.settings).plan.firstRequestMatch(request, nil) == 0)
    }
}
