import Testing

@testable import Operation

@Suite("What NO_PROXY lets past the proxy")
struct ProxyBypassTests {
    @Test(arguments: [
        ("*", "am.example.com"), ("am.example.com", "am.example.com"), ("AM.example.com", "am.example.com"),
        ("am.example.com.", "am.example.com"), (".example.com.:443", "am.example.com"),
        (".münchen.example", "am.xn--mnchen-3ya.example"), ("127.0.0.1.", "127.0.0.1"),
        ("example.com", "am.example.com"), (".example.com", "am.example.com"), ("*.example.com", "am.example.com"),
        ("localhost, am.example.com", "am.example.com"), ("a b am.example.com", "am.example.com"),
        ("am.example.com:8443", "am.example.com"), ("10.0.0.0/8", "10.1.2.3"), ("10.1.2.3", "10.1.2.3"),
        ("[::1]:80", "::1"), ("fd00::/8", "fd12::1"), ("::ffff:10.0.0.0/104", "10.9.9.9"),
        ("staging.example.com", "*.staging.example.com"), ("a.staging.example.com", "*.staging.example.com"),
        (".com", "*.staging.example.com"), ("example.com", "*"),
    ])
    func bypassed(_ value: String, _ host: String) {
        #expect(ProxyBypass(value).entry(for: host) != nil)
    }

    @Test(arguments: [
        ("", "am.example.com"), (" , ", "am.example.com"), ("example.org", "am.example.com"),
        ("m.example.com", "am.example.com"), ("am.example", "am.example.com"), ("10.0.0.0/8", "11.0.0.1"),
        ("10.0.0.0/8", "10.example.com"), ("127.0.0.1", "am.example.com"), (".", "am.example.com"),
        ("other.example.com", "*.staging.example.com"), ("localhost,127.0.0.1,::1", "*"),
        ("1.2.3.4/99", "1.2.3.4"),
    ])
    func kept(_ value: String, _ host: String) {
        #expect(ProxyBypass(value).entry(for: host) == nil)
    }

    @Test func theEntryIsNamed() {
        #expect(ProxyBypass("localhost, .Example.com").entry(for: "am.example.com") == ".example.com")
    }
}
