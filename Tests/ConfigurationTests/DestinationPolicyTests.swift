import Addresses
import ProxyCore
import Testing

@Suite struct DestinationPolicyTests {
    private func policy(allow: [String], deny: [String]) throws -> DestinationPolicy {
        DestinationPolicy(
            allow: try allow.map { try #require(DestinationPattern($0)) },
            deny: try deny.map { try #require(DestinationPattern($0)) })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var allow: [String]
        var deny: [String]
        var host: String
        var port: UInt16 = 80
        var address: String
        var isPermitted: Bool
        var entry: String?
        var testDescription: String { "\(host):\(port) at \(address), allow \(allow), deny \(deny)" }
    }

    static let cases = [
        // the defaults
        Case(
            allow: ["*"], deny: ["link-local", "metadata"], host: "a.com", address: "192.0.2.1", isPermitted: true,
            entry: "*"),
        Case(
            allow: ["*"], deny: ["link-local", "metadata"], host: "a.com", address: "169.254.169.254",
            isPermitted: false,
            entry: "metadata"),
        Case(
            allow: ["*"], deny: ["link-local", "metadata"], host: "a.com", address: "::ffff:169.254.1.1",
            isPermitted: false, entry: "link-local"),
        Case(
            allow: ["*"], deny: ["link-local", "metadata"], host: "fd00:ec2::254", address: "fd00:ec2::254",
            isPermitted: false, entry: "metadata"),
        // what nothing fits is refused
        Case(allow: ["a.com"], deny: [], host: "b.com", address: "192.0.2.1", isPermitted: false, entry: nil),
        Case(allow: [], deny: [], host: "b.com", address: "192.0.2.1", isPermitted: false, entry: nil),
        // the more specific wins, and deny wins a tie
        Case(
            allow: ["*.a.com"], deny: ["*"], host: "x.a.com", address: "192.0.2.1", isPermitted: true, entry: "*.a.com"),
        Case(
            allow: ["*.a.com"], deny: ["x.a.com"], host: "x.a.com", address: "192.0.2.1", isPermitted: false,
            entry: "x.a.com"),
        Case(
            allow: ["x.a.com"], deny: ["x.a.com"], host: "x.a.com", address: "192.0.2.1", isPermitted: false,
            entry: "x.a.com"),
        Case(
            allow: ["x.a.com:443"], deny: ["x.a.com"], host: "x.a.com", port: 443, address: "192.0.2.1",
            isPermitted: true,
            entry: "x.a.com:443"),
        Case(
            allow: ["x.a.com:443"], deny: ["x.a.com"], host: "x.a.com", address: "192.0.2.1", isPermitted: false,
            entry: "x.a.com"),
        Case(
            allow: ["*"], deny: ["*:25"], host: "x.a.com", port: 25, address: "192.0.2.1", isPermitted: false,
            entry: "*:25"),
        Case(
            allow: ["10.1.0.0/16"], deny: ["private"], host: "a.com", address: "10.1.2.3", isPermitted: true,
            entry: "10.1.0.0/16"),
        Case(
            allow: ["0.0.0.0/0"], deny: ["private"], host: "a.com", address: "10.1.2.3", isPermitted: false,
            entry: "private"),
        Case(
            allow: ["*", "10.0.0.0/8"], deny: ["private"], host: "a", address: "10.1.2.3", isPermitted: false,
            entry: "private"),
        // a name may be anyone's, so a glob over names does not outdo an address; one host that is written out does
        Case(
            allow: ["*.a.com"], deny: ["private"], host: "x.a.com", address: "10.1.2.3", isPermitted: false,
            entry: "private"),
        Case(
            allow: ["x.a.com"], deny: ["private"], host: "x.a.com", address: "10.1.2.3", isPermitted: true,
            entry: "x.a.com"),
        Case(
            allow: ["x.a.com"], deny: ["metadata"], host: "x.a.com", address: "169.254.169.254", isPermitted: false,
            entry: "metadata"),
        // where deny fits a name, no address in allow makes that good; an address that is written out is no name
        Case(allow: ["loopback"], deny: ["*"], host: "a.com", address: "127.0.0.1", isPermitted: false, entry: "*"),
        Case(
            allow: ["127.0.0.1"], deny: ["*:80"], host: "a.com", address: "127.0.0.1", isPermitted: false, entry: "*:80"
        ),
        Case(
            allow: ["127.0.0.1"], deny: ["*:81"], host: "a.com", address: "127.0.0.1", isPermitted: true,
            entry: "127.0.0.1"),
        Case(
            allow: ["loopback"], deny: ["*"], host: "127.0.0.1", address: "127.0.0.1", isPermitted: true,
            entry: "loopback"),
        Case(
            allow: ["*.a.com", "loopback"], deny: ["*"], host: "x.a.com", address: "127.0.0.1", isPermitted: true,
            entry: "loopback"),
        // ports of addresses
        Case(
            allow: ["[::1]:8080"], deny: ["loopback"], host: "::1", port: 8080, address: "::1", isPermitted: true,
            entry: "[::1]:8080"),
        Case(
            allow: ["127.0.0.1:8080"], deny: ["loopback"], host: "x", port: 8081, address: "127.0.0.1",
            isPermitted: false,
            entry: "loopback"),
        // letter case and the final dot make no difference
        Case(
            allow: ["*"], deny: ["X.a.com"], host: "x.A.com.", address: "192.0.2.1", isPermitted: false,
            entry: "X.a.com"),
    ]

    @Test(arguments: cases) func judgesAddresses(_ item: Case) throws {
        let address = try #require(IPAddress(item.address))
        let decision = try policy(allow: item.allow, deny: item.deny).permits(
            host: item.host, port: item.port, address: address)
        #expect(decision.isPermitted == item.isPermitted)
        #expect(decision.entry?.description == item.entry)
    }

    /// Before resolution nothing may be refused that the address would put right.
    @Test(arguments: cases) func namesAreNeverJudgedTooHarshly(_ item: Case) throws {
        guard item.isPermitted else { return }
        #expect(try policy(allow: item.allow, deny: item.deny).permits(host: item.host, port: item.port).isPermitted)
    }

    @Test func namesAreJudgedEarly() throws {
        #expect(DestinationPolicy().permits(host: "example.com", port: 80).isPermitted)
        #expect(!DestinationPolicy().permits(host: "169.254.169.254", port: 80).isPermitted)
        let denied = try policy(allow: ["*"], deny: ["*.bad.com"]).permits(host: "x.bad.com", port: 80)
        #expect(!denied.isPermitted && denied.reason == "destinations.deny holds *.bad.com")
        let unknown = try policy(allow: ["*.a.com"], deny: []).permits(host: "b.com", port: 80)
        #expect(!unknown.isPermitted && unknown.reason == "no entry of destinations.allow fits")
        // a block may still hold the address
        let open = try policy(allow: ["10.0.0.0/8"], deny: ["*.a.com"])
        let later = open.permits(host: "x.b.com", port: 80)
        #expect(later.isPermitted && later.entry == nil)
        #expect(open.permits(host: "x.a.com", port: 80).entry?.description == "*.a.com")
        #expect(!open.permits(host: "x.a.com", port: 80).isPermitted)
        #expect(!(try policy(allow: ["10.0.0.0/8"], deny: ["x.a.com"]).permits(host: "x.a.com", port: 80).isPermitted))
        #expect(!(try policy(allow: ["10.0.0.1:81"], deny: []).permits(host: "x.a.com", port: 80).isPermitted))
    }

    @Test func whatHangsOnTheAddressIsTold() throws {
        let narrow = try policy(allow: ["*.localhost", "loopback", "10.0.0.0/8", "192.0.2.1:81"], deny: ["*.bad"])
        let question = narrow.question(of: "Foreign.example.", port: 80)
        #expect(
            question
                == "allowed where foreign.example leads to an address in loopback, 10.0.0.0/8 (destinations.allow)")
        for host in ["a.localhost", "127.0.0.1", "10.1.2.3", "192.0.2.1", "a.bad"] {
            #expect(narrow.question(of: host, port: 80) == nil, "\(host)")
        }
        // the address decides, as the closer entry
        let loopback = try #require(IPAddress("127.0.0.1"))
        let far = try #require(IPAddress("192.0.2.9"))
        #expect(narrow.permits(host: "foreign.example", port: 80, address: loopback).isPermitted)
        #expect(!narrow.permits(host: "foreign.example", port: 80, address: far).isPermitted)
        let wide = try policy(allow: ["*", "named.example"], deny: ["private", "192.0.2.7:443", "link-local"])
        #expect(
            wide.question(of: "a.example", port: 80)
                == "refused where a.example leads to an address in private (destinations.deny)")
        #expect(wide.question(of: "a.example", port: 443)?.contains("private, 192.0.2.7:443") == true)
        #expect(wide.question(of: "named.example", port: 80) == nil)
        #expect(DestinationPolicy().question(of: "a.example", port: 80) == nil)
        #expect(try policy(allow: ["a.example"], deny: []).question(of: "b.example", port: 80) == nil)
    }

    @Test(arguments: [
        "", "http://x", "a b", "x:0", "x:70000", "x:", "::1:80:x", "[::1", "[10.0.0.1]:80", "10.0.0.1/8", "a/b",
        "127.1",
        "0x7f.0.0.1", "2130706433:80", "127.0.0.1.",
    ])
    func refusesPatterns(_ text: String) { #expect(DestinationPattern(text) == nil) }
}
