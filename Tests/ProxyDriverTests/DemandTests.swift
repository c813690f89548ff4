import HTTPCodec
import ProxyCore
import TLSEngine
import Testing

@testable import ProxyDriver

@Suite("What is demanded of an origin")
struct DemandTests {
    private let first: Identity
    private let second: Identity

    init() throws {
        func identity(_ name: String) throws -> Identity {
            let authority = try CertificateAuthority.make(name: name, constraints: nil, now: 1_800_000_000)
            return try Identity(certificate: authority.certificate, chain: [], key: authority.key)
        }
        first = try identity("first")
        second = try identity("second")
    }

    private func demands(of host: String, as name: String? = nil, pins: [[UInt8]] = []) throws -> OriginDemands {
        func pattern(_ text: String) throws -> DestinationPattern { try #require(DestinationPattern(text)) }
        var security = OriginSecurity()
        for host in ["am.test", "10.0.0.1"] {
            var rule = OriginSecurity.HostRule(host: try pattern(host))
            rule.verifies = false
            rule.pins = pins
            security.rules.append(rule)
        }
        security.identities = [
            .init(host: try pattern("am.test"), identity: first),
            .init(host: try pattern("10.0.0.1"), identity: second),
        ]
        var origin = Origin(scheme: .https, host: host, port: 443)
        origin.serverName = name
        return security.demands(of: origin)
    }

    @Test func aHostThatIsNotVerifiedIsNot() throws {
        let demands = try demands(of: "am.test")
        #expect(!demands.verifies && demands.identity?.certificate === first.certificate)
        #expect(try self.demands(of: "evil.test").verifies)
    }

    @Test func aTunnelToElsewhereIsVerifiedWhateverItsName() throws {
        let demands = try demands(of: "evil.test", as: "am.test")
        #expect(demands.verifies && demands.identity?.certificate === first.certificate)
    }

    @Test func whereNeitherIsVerifiedTheHostIsShownItsOwnCertificate() throws {
        let demands = try demands(of: "10.0.0.1", as: "am.test")
        #expect(!demands.verifies && demands.identity?.certificate === second.certificate)
    }

    @Test func aKeyThatIsPinnedProvesTheNameEverywhere() throws {
        let pins = [[UInt8](repeating: 1, count: 32)]
        let demands = try demands(of: "evil.test", as: "am.test", pins: pins)
        #expect(!demands.verifies && demands.pins == pins && demands.identity?.certificate === first.certificate)
    }
}
