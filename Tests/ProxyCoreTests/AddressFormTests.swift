import Addresses
import ProxyCore
import Testing

@Suite("Addresses in other forms")
struct AddressFormTests {
    /// - Parameter name: nil for the address as it is written.
    private func decision(
        _ address: String, of name: String? = "a.test", allow: [String] = ["*"], deny: [String]
    ) throws -> DestinationPolicy.Decision {
        let policy = DestinationPolicy(
            allow: try allow.map { try #require(DestinationPattern($0)) },
            deny: try deny.map { try #require(DestinationPattern($0)) })
        // as the host that is asked for and as what a name leads to
        let decision = policy.permits(host: name ?? address, port: 80, address: try #require(IPAddress(address)))
        #expect(policy.permits(host: address, port: 80).isPermitted == decision.isPermitted)
        return decision
    }

    @Test(arguments: [
        // what the kernel makes of them
        ("0.0.0.0", "127.0.0.0/8"), ("::", "127.0.0.0/8"), ("::", "::1"), ("::ffff:0.0.0.0", "127.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.0/8"), ("::", "0.0.0.0"),
        // what a translator or a tunnel makes of them
        ("64:ff9b::7f00:1", "127.0.0.0/8"), ("64:ff9b::a00:1", "private"), ("64:ff9b::a9fe:a9fe", "metadata"),
        ("64:ff9b::", "loopback"), ("64:ff9b:1::a00:1", "private"), ("64:ff9b:1:a00:0:100::", "private"),
        ("64:ff9b:1:a:0:1::", "private"), ("64:ff9b:1:0:a:0:100:0", "private"),
        ("2002:7f00:1::", "127.0.0.0/8"), ("2002:a9fe:a9fe:1::5", "link-local"), ("2002::1", "loopback"),
        ("2001:0:a00:1::", "private"), ("2001::f5ff:fffe", "10.0.0.1"),
        ("::127.0.0.1", "127.0.0.0/8"), ("::10.0.0.1", "private"), ("::ffff:0:10.0.0.1", "private"),
        ("2001:db8::5efe:10.0.0.1", "private"), ("2001:db8::200:5efe:10.0.0.1", "private"),
        // the outer form counts as well
        ("64:ff9b::808:808", "64:ff9b::/96"), ("2002:808:808::", "2002::/16"), ("0.0.0.0", "0.0.0.0/8"), ("::", "::"),
    ])
    func oneDeniedFormIsEnough(_ address: String, _ entry: String) throws {
        let decision = try decision(address, deny: [entry])
        #expect(!decision.isPermitted && decision.entry?.description == entry)
    }

    @Test(arguments: [
        ("64:ff9b::808:808", "private"), ("2002:808:808::", "private"), ("2001:db8::7f00:1", "127.0.0.0/8"),
        ("::1", "127.0.0.0/8"), ("2001:1:a00:1::", "private"), ("64:ff9b:2::a00:1", "private"), ("0.0.0.1", "loopback"),
        ("64:ff9b:1::808:808", "loopback"), ("64:ff9b:1:fffe::808:808", "private"),
        ("2003:a00:1::", "private"), ("2001:db8::5eff:10.0.0.1", "private"),
    ])
    func othersAreWhatTheyAre(_ address: String, _ entry: String) throws {
        #expect(try decision(address, deny: [entry]).isPermitted)
    }

    @Test func whatIsInsideNeedsNoPermission() throws {
        #expect(try decision("64:ff9b::808:808", allow: ["64:ff9b::/96"], deny: ["private"]).isPermitted)
        #expect(try !decision("64:ff9b::808:808", allow: ["8.8.8.8"], deny: []).isPermitted)
        // each form by its closest entry
        #expect(try decision("64:ff9b::a01:1", allow: ["*", "10.1.0.0/16"], deny: ["private"]).isPermitted)
        #expect(try !decision("64:ff9b::a01:1", allow: ["64:ff9b::a01:1"], deny: ["private"]).isPermitted)
    }

    /// Who denies everything and allows a translator's prefix means what lies behind it; who denies certain addresses
    /// means them behind it as well.
    @Test(arguments: [["*"], ["*.test", "*"]])
    func whatDeniesEverythingIsNoWordOnTheInnerForm(_ deny: [String]) throws {
        let allow = ["64:ff9b::/96"]
        #expect(try decision("64:ff9b::808:808", of: nil, allow: allow, deny: deny).isPermitted)
        for inner in ["private", "10.0.0.0/7", "10.0.0.1"] {
            #expect(try !decision("64:ff9b::a00:1", of: nil, allow: allow, deny: deny + [inner]).isPermitted)
        }
        #expect(try !decision("64:ff9b:1::808:808", of: nil, allow: allow, deny: deny).isPermitted)
        // a name that is denied leads nowhere
        let policy = DestinationPolicy(
            allow: allow.compactMap { DestinationPattern($0) }, deny: deny.compactMap { DestinationPattern($0) })
        let inner = try #require(IPAddress("64:ff9b::808:808"))
        #expect(!policy.permits(host: "a.test", port: 80, address: inner).isPermitted)
    }

    @Test func whoeverDeniesOneFamilyDeniesItInEveryForm() throws {
        for allow in ["*", "64:ff9b::/96"] {
            #expect(try !decision("64:ff9b::808:808", allow: [allow], deny: ["0.0.0.0/0"]).isPermitted)
        }
        #expect(try decision("2001:db8::1", deny: ["0.0.0.0/0"]).isPermitted)
    }

    @Test func theReasonNamesBoth() throws {
        #expect(
            try decision("64:ff9b::7f00:1", deny: ["127.0.0.0/8"]).reason
                == "destinations.deny holds 127.0.0.0/8, and 64:ff9b::7f00:1 may lead to 127.0.0.1")
    }

    @Test(arguments: [
        ("::ffff:10.0.0.1", "10.*"), ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8:0::1", "[2001:db8::1]"),
    ])
    func hostsAreComparedInOneForm(_ host: String, _ entry: String) throws {
        let policy = DestinationPolicy(
            allow: ["*"].compactMap { DestinationPattern($0) }, deny: [entry].compactMap { DestinationPattern($0) })
        #expect(!policy.permits(host: host, port: 80).isPermitted)
    }

    @Test func aRouteIsForEveryFormOfAnAddress() {
        let proxy = UpstreamProxy(host: "proxy.test", port: 8080)
        let table = RouteTable([RouteTable.Entry(hosts: ["10.0.0.1"], proxy: proxy)])
        #expect(table.proxy(for: "::ffff:10.0.0.1") == proxy)
    }
}
