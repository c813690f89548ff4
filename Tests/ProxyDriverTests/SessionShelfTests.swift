import COpenSSL
import HTTPCodec
import ProxyCore
import Testing

@testable import ProxyDriver
@testable import TLSEngine

@Suite("What origins gave to resume by")
struct SessionShelfTests {
    /// By reference: what changes it cannot stand in an expectation otherwise.
    private final class Shelf {
        private var shelf: SessionShelf
        init(capacity: Int = 1024) { shelf = SessionShelf(capacity: capacity) }
        var count: Int { shelf.count }
        func put(_ session: TLSSession, for origin: Origin) { shelf.put(session, for: origin) }
        func take(_ origin: Origin) -> TLSSession? { shelf.take(origin) }
        func removeAll() { shelf.removeAll() }
    }

    private let here = Origin(scheme: .https, host: "a.test", port: 443)

    private func session(_ version: Int32) throws -> TLSSession {
        let handle = try #require(SSL_SESSION_new())
        try #require(SSL_SESSION_set_protocol_version(handle, version) == 1)
        return TLSSession(owning: handle)
    }

    private func origin(_ number: Int) -> Origin { Origin(scheme: .https, host: "\(number).test", port: 443) }

    @Test func whatIsForOneUseIsGivenOutOnce() throws {
        let shelf = Shelf()
        let (first, second) = (try session(TLS1_3_VERSION), try session(TLS1_3_VERSION))
        shelf.put(first, for: here)
        shelf.put(second, for: here)
        #expect(shelf.count == 2)
        #expect(shelf.take(here) === second)
        #expect(shelf.take(here) === first)
        #expect(shelf.take(here) == nil && shelf.count == 0)
    }

    @Test func whatIsForManyUsesStaysUntilTheNextComes() throws {
        let shelf = Shelf()
        let (first, second) = (try session(TLS1_2_VERSION), try session(TLS1_2_VERSION))
        shelf.put(first, for: here)
        #expect(shelf.take(here) === first && shelf.take(here) === first)
        shelf.put(second, for: here)
        #expect(shelf.count == 1 && shelf.take(here) === second)
    }

    @Test func everyPartOfAnOriginTellsItFromOthers() throws {
        let shelf = Shelf()
        var named = here
        named.serverName = "b.test"
        var routed = here
        routed.route = .tunnel(UpstreamProxy(host: "up.test", port: 3128))
        shelf.put(try session(TLS1_3_VERSION), for: named)
        #expect(shelf.take(here) == nil && shelf.take(routed) == nil)
        #expect(shelf.take(Origin(scheme: .https, host: "b.test", port: 443)) == nil)
        #expect(shelf.take(named) != nil)
    }

    @Test func oneOriginHasSoMany() throws {
        let shelf = Shelf()
        let first = try session(TLS1_3_VERSION)
        shelf.put(first, for: here)
        for _ in 0..<64 { shelf.put(try session(TLS1_3_VERSION), for: here) }
        #expect(shelf.count == 64)
        var last: TLSSession?
        for _ in 0..<64 { last = shelf.take(here) }
        // the oldest made way
        #expect(last !== first && last != nil && shelf.take(here) == nil && shelf.count == 0)
    }

    @Test func inAllThereAreSoManyAndThoseOfLateStay() throws {
        let shelf = Shelf(capacity: 64)
        for number in 0..<64 { shelf.put(try session(TLS1_2_VERSION), for: origin(number)) }
        // used of late, though it came first
        #expect(shelf.take(origin(0)) != nil)
        for number in 64..<1_000 {
            shelf.put(try session(TLS1_2_VERSION), for: origin(number))
            #expect(shelf.count <= 64)
        }
        #expect(shelf.take(origin(999)) != nil && shelf.take(origin(1)) == nil)
    }

    @Test func theLongestUnusedAreForgottenFirst() throws {
        let shelf = Shelf(capacity: 64)
        for number in 0..<64 { shelf.put(try session(TLS1_2_VERSION), for: origin(number)) }
        #expect(shelf.take(origin(0)) != nil)
        shelf.put(try session(TLS1_2_VERSION), for: origin(64))
        #expect(shelf.take(origin(0)) != nil && shelf.take(origin(64)) != nil && shelf.take(origin(1)) == nil)
    }

    @Test func otherRulesBeginWithNone() throws {
        let shelf = Shelf()
        shelf.put(try session(TLS1_2_VERSION), for: here)
        shelf.removeAll()
        #expect(shelf.take(here) == nil && shelf.count == 0)
    }
}
