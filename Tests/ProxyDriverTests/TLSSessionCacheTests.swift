import COpenSSL
import HTTPCodec
import ProxyCore
import Testing

@testable import ProxyDriver
@testable import TLSEngine

@Suite("What origins gave to resume by")
struct TLSSessionCacheTests {
    /// By reference: what changes it cannot stand in an expectation otherwise.
    private final class Cache {
        private var cache: TLSSessionCache
        init(capacity: Int = 1024) { cache = TLSSessionCache(capacity: capacity) }
        var count: Int { cache.count }
        func put(_ session: TLSSession, for origin: Origin) { cache.put(session, for: origin) }
        func take(_ origin: Origin) -> TLSSession? { cache.take(origin) }
        func removeAll() { cache.removeAll() }
    }

    private let here = Origin(scheme: .https, host: "a.test", port: 443)

    private func session(_ version: Int32) throws -> TLSSession {
        let handle = try #require(SSL_SESSION_new())
        try #require(SSL_SESSION_set_protocol_version(handle, version) == 1)
        return TLSSession(owning: handle)
    }

    private func origin(_ number: Int) -> Origin { Origin(scheme: .https, host: "\(number).test", port: 443) }

    @Test func whatIsForOneUseIsGivenOutOnce() throws {
        let cache = Cache()
        let (first, second) = (try session(TLS1_3_VERSION), try session(TLS1_3_VERSION))
        cache.put(first, for: here)
        cache.put(second, for: here)
        #expect(cache.count == 2)
        #expect(cache.take(here) === second)
        #expect(cache.take(here) === first)
        #expect(cache.take(here) == nil && cache.count == 0)
    }

    @Test func whatIsForManyUsesStaysUntilTheNextComes() throws {
        let cache = Cache()
        let (first, second) = (try session(TLS1_2_VERSION), try session(TLS1_2_VERSION))
        cache.put(first, for: here)
        #expect(cache.take(here) === first && cache.take(here) === first)
        cache.put(second, for: here)
        #expect(cache.count == 1 && cache.take(here) === second)
    }

    @Test func everyPartOfAnOriginTellsItFromOthers() throws {
        let cache = Cache()
        var named = here
        named.serverName = "b.test"
        var routed = here
        routed.route = .tunnel(UpstreamProxy(host: "up.test", port: 3128))
        cache.put(try session(TLS1_3_VERSION), for: named)
        #expect(cache.take(here) == nil && cache.take(routed) == nil)
        #expect(cache.take(Origin(scheme: .https, host: "b.test", port: 443)) == nil)
        #expect(cache.take(named) != nil)
    }

    @Test func oneOriginHasSoMany() throws {
        let cache = Cache()
        let first = try session(TLS1_3_VERSION)
        cache.put(first, for: here)
        for _ in 0..<64 { cache.put(try session(TLS1_3_VERSION), for: here) }
        #expect(cache.count == 64)
        var last: TLSSession?
        for _ in 0..<64 { last = cache.take(here) }
        // the oldest made way
        #expect(last !== first && last != nil && cache.take(here) == nil && cache.count == 0)
    }

    @Test func inAllThereAreSoManyAndThoseOfLateStay() throws {
        let cache = Cache(capacity: 64)
        for number in 0..<64 { cache.put(try session(TLS1_2_VERSION), for: origin(number)) }
        // used of late, though it came first
        #expect(cache.take(origin(0)) != nil)
        for number in 64..<1_000 {
            cache.put(try session(TLS1_2_VERSION), for: origin(number))
            #expect(cache.count <= 64)
        }
        #expect(cache.take(origin(999)) != nil && cache.take(origin(1)) == nil)
    }

    @Test func theLongestUnusedAreForgottenFirst() throws {
        let cache = Cache(capacity: 64)
        for number in 0..<64 { cache.put(try session(TLS1_2_VERSION), for: origin(number)) }
        #expect(cache.take(origin(0)) != nil)
        cache.put(try session(TLS1_2_VERSION), for: origin(64))
        #expect(cache.take(origin(0)) != nil && cache.take(origin(64)) != nil && cache.take(origin(1)) == nil)
    }

    @Test func otherRulesBeginWithNone() throws {
        let cache = Cache()
        cache.put(try session(TLS1_2_VERSION), for: here)
        cache.removeAll()
        #expect(cache.take(here) == nil && cache.count == 0)
    }
}
