import Addresses
import HTTPCodec
import ProxyCore
import Testing

@Suite("Destinations behind an upstream proxy")
struct DestinationRouteTests {
    private func policy(_ allow: [String], _ deny: [String]) -> DestinationPolicy {
        DestinationPolicy(
            allow: allow.compactMap { DestinationPattern($0) }, deny: deny.compactMap { DestinationPattern($0) })
    }

    private func origin(_ host: String, proxy: String? = "proxy.test") -> Origin {
        Origin(
            scheme: .http, host: host, port: 80,
            route: proxy.map { .forward(UpstreamProxy(host: $0, port: 8080)) })
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test func theNameThatIsAskedForIsJudged() {
        let policy = policy(["*.corp.test"], ["bad.corp.test"])
        #expect(policy.refusal(of: origin("a.corp.test")) == nil)
        #expect(policy.refusal(of: origin("bad.corp.test")) == "destinations.deny holds bad.corp.test")
        #expect(policy.refusal(of: origin("a.test")) == "no entry of destinations.allow fits")
        #expect(DestinationPolicy().refusal(of: origin("169.254.169.254")) == "destinations.deny holds metadata")
    }

    @Test func anAddressThatOnlyTheProxyLearnsCannotPermit() {
        let policy = policy(["10.0.0.0/8"], [])
        #expect(policy.refusal(of: origin("a.test", proxy: nil)) == nil)
        #expect(policy.refusal(of: origin("a.test"))?.contains("names addresses alone") == true)
        #expect(policy.refusal(of: origin("10.1.2.3")) == nil)
    }

    @Test(arguments: [
        "2852039166", "0xa9fea9fe", "169.254.43518", "a.0xFE", "169.254.169.0376", "0x", "127.1.", "0x7f.1",
        "127.0.0.1.",
        "0177.0.0.1", "127%2e0.0.1", "%31%32%37.1",
    ])
    func numbersThatMayBecomeAddresses(_ host: String) {
        for proxy in ["proxy.test", nil] {
            #expect(DestinationPolicy().refusal(of: origin(host, proxy: proxy))?.contains("resolvers take for") == true)
        }
    }

    @Test(arguments: ["a.test", "1.test", "10.0.0.1", "::1", "x0x1", "0x1g", "cafe"])
    func namesThatAreNone(_ host: String) { #expect(DestinationPolicy().refusal(of: origin(host)) == nil) }

    @Test func theProxyNeedsNoEntryButMayBeDenied() throws {
        let narrow = policy(["*.corp.test"], ["link-local", "192.0.2.0/24"])
        #expect(narrow.refusal(of: origin("a.corp.test"), at: try address("10.0.0.1")) == nil)
        #expect(
            narrow.refusal(of: origin("a.corp.test"), at: try address("192.0.2.1"))
                == "for the upstream proxy proxy.test:8080, destinations.deny holds 192.0.2.0/24")
        #expect(narrow.refusal(of: origin("a.corp.test"), at: try address("fe80::1")) != nil)
        // an entry for the proxy itself is closer than the block
        let named = policy(["*.corp.test", "proxy.test:8080"], ["192.0.2.0/24"])
        #expect(named.refusal(of: origin("a.corp.test"), at: try address("192.0.2.1")) == nil)
        // without a proxy on the way the address of the host itself is judged
        #expect(narrow.refusal(of: origin("a.corp.test", proxy: nil), at: try address("192.0.2.1")) != nil)
        #expect(narrow.refusal(of: origin("a.test", proxy: nil), at: try address("10.0.0.1")) != nil)
    }
}
