import Addresses
import ProxyCore
import Testing

@Suite("Counts of refused certificates")
struct RefusalCountsTests {
    private let hour = 3_600_000
    private let alice = ClientKey(address: IPAddress("192.0.2.1"), user: nil)
    private let bob = ClientKey(address: IPAddress("192.0.2.2"), user: nil)

    @Test func threeOfOneClientEndItForThatClientAlone() {
        var counts = RefusalCounts()
        for time in 0..<3 {
            #expect(!counts.isLeftAlone(at("a.test"), for: alice, now: time))
            counts.refused(at("a.test"), by: alice, now: time)
        }
        #expect(counts.isLeftAlone(at("a.test"), for: alice, now: 3))
        #expect(!counts.isLeftAlone(at("b.test"), for: alice, now: 3))
        #expect(!counts.isLeftAlone(at("a.test"), for: bob, now: 3))
        // another's do not add to one's own
        counts.refused(at("a.test"), by: bob, now: 4)
        #expect(!counts.isLeftAlone(at("a.test"), for: bob, now: 5))
    }

    private func at(_ name: String, _ port: UInt16 = 443) -> ServerPlace { ServerPlace(name, port: port) }

    @Test func eachPortByItself() {
        var counts = RefusalCounts()
        for _ in 0..<3 { counts.refused(at("a.test"), by: alice, now: 0) }
        #expect(!counts.isLeftAlone(at("a.test", 8443), for: alice, now: 0))
        counts.accepted(at("a.test", 8443), by: alice, now: 0)
        #expect(counts.isLeftAlone(at("a.test"), for: alice, now: 0))
    }

    // MARK: closes

    /// As a browser does that needs one connection of several.
    @Test func closesBesideASuccessAreNone() {
        var counts = RefusalCounts()
        counts.accepted(at("a.test"), by: alice, now: 0)
        for time in stride(from: 10, to: 60_000, by: 2_000) {
            #expect(counts.left(at("a.test"), by: alice, now: time) == .besideAnother)
        }
        #expect(counts.count == 0)
        // another's success, or one somewhere else, is none of this one's
        #expect(counts.left(at("a.test"), by: bob, now: 10) == .unclear)
        #expect(counts.left(at("a.test", 8443), by: alice, now: 10) == .unclear)
        // nor is one of long ago
        #expect(counts.left(at("a.test"), by: alice, now: 60_000) == .unclear)
    }

    /// What becomes of the other is known later.
    @Test func closesBesideAnotherHandshakeAreNone() {
        var counts = RefusalCounts()
        for _ in 0..<3 { counts.began(at("a.test"), by: alice) }
        for _ in 0..<2 {
            #expect(counts.left(at("a.test"), by: alice, now: 0) == .besideAnother)
            counts.ended(at("a.test"), by: alice, isDone: false, now: 0)
        }
        counts.began(at("a.test", 8443), by: alice)
        counts.began(at("a.test"), by: bob)
        #expect(counts.left(at("a.test"), by: alice, now: 0) == .unclear)
    }

    /// However long ago its handshake was.
    @Test func closesBesideAConnectionAreNone() {
        var counts = RefusalCounts()
        counts.began(at("a.test"), by: alice)
        counts.accepted(at("a.test"), by: alice, now: 0)
        for time in stride(from: hour, to: hour + 10_000, by: 1_100) {
            counts.began(at("a.test"), by: alice)
            #expect(counts.left(at("a.test"), by: alice, now: time) == .besideAnother)
            counts.ended(at("a.test"), by: alice, isDone: false, now: time)
        }
        counts.ended(at("a.test"), by: alice, isDone: true, now: 2 * hour)
        // nor so shortly after it
        #expect(counts.left(at("a.test"), by: alice, now: 2 * hour + 59_999) == .besideAnother)
        #expect(counts.left(at("a.test"), by: alice, now: 2 * hour + 60_000) == .unclear)
        #expect(counts.left(at("a.test"), by: bob, now: 2 * hour) == .unclear)
    }

    @Test func closesOfOneMomentCountOnce() {
        var counts = RefusalCounts()
        for time in 0..<20 { #expect(counts.left(at("a.test"), by: alice, now: time * 50) == .unclear) }
        // the success may be known of after them
        counts.accepted(at("a.test"), by: alice, now: 1_000)
        #expect(counts.count == 0)
    }

    @Test func closesAgainAndAgainAreRefusals() {
        var counts = RefusalCounts()
        #expect(counts.left(at("a.test"), by: alice, now: 0) == .unclear)
        #expect(counts.left(at("a.test"), by: alice, now: 1_000) == .refusal)
        #expect(!counts.isLeftAlone(at("a.test"), for: alice, now: 1_000))
        #expect(counts.left(at("a.test"), by: alice, now: 2_000) == .refusal)
        #expect(counts.isLeftAlone(at("a.test"), for: alice, now: 2_000))
        #expect(counts.left(at("a.test"), by: alice, now: 2_000 + hour) == .unclear)
    }

    @Test func successesAreBounded() {
        var counts = RefusalCounts(successes: 8)
        for number in 0..<100 { counts.accepted(at("\(number).test"), by: alice, now: number) }
        #expect(counts.left(at("99.test"), by: alice, now: 100) == .besideAnother)
        #expect(counts.left(at("92.test"), by: alice, now: 100) == .besideAnother)
        #expect(counts.left(at("80.test"), by: alice, now: 100) == .unclear)
    }

    @Test func whoIsOneClient() {
        func key(_ address: String, _ user: String? = nil) -> ClientKey {
            ClientKey(address: IPAddress(address), user: user)
        }
        #expect(key("2001:db8::1") == key("2001:db8::2:0:0:1"))
        #expect(key("2001:db8::1") != key("2001:db8:0:1::1"))
        #expect(key("::ffff:192.0.2.1") == key("192.0.2.1"))
        #expect(key("192.0.2.1", "alice") != key("192.0.2.1", "bob"))
        #expect(key("192.0.2.1", "alice") != key("192.0.2.1"))
    }

    @Test func anAcceptanceBeginsAnew() {
        var counts = RefusalCounts()
        for _ in 0..<2 { counts.refused(at("a.test"), by: alice, now: 0) }
        counts.accepted(at("a.test"), by: bob, now: 0)
        counts.accepted(at("a.test"), by: alice, now: 0)
        #expect(counts.count == 0)
        for _ in 0..<2 { counts.refused(at("a.test"), by: alice, now: 0) }
        #expect(!counts.isLeftAlone(at("a.test"), for: alice, now: 0))
    }

    @Test func itEndsAnHourAfterTheLast() {
        var counts = RefusalCounts()
        for time in [0, 1, hour] { counts.refused(at("a.test"), by: alice, now: time) }
        #expect(counts.isLeftAlone(at("a.test"), for: alice, now: 2 * hour - 1))
        #expect(!counts.isLeftAlone(at("a.test"), for: alice, now: 2 * hour))
        // and then three more are needed
        counts.refused(at("a.test"), by: alice, now: 2 * hour)
        #expect(!counts.isLeftAlone(at("a.test"), for: alice, now: 2 * hour))
    }

    @Test func aClientPushesOutItsOwnAlone() {
        var counts = RefusalCounts(clients: 4, places: 8)
        for _ in 0..<3 { counts.refused(at("a.test"), by: bob, now: 0) }
        for _ in 0..<3 { counts.refused(at("first.test"), by: alice, now: 1) }
        for number in 0..<1_000 {
            counts.refused(at("\(number).test"), by: alice, now: 2 + number)
            #expect(counts.count <= 9)
        }
        #expect(counts.isLeftAlone(at("a.test"), for: bob, now: 2_000))
        #expect(!counts.isLeftAlone(at("first.test"), for: alice, now: 2_000))
    }

    @Test func clientsAreBoundedAndTheOldestIsForgotten() {
        var counts = RefusalCounts(clients: 4, places: 8)
        for number in 0..<100 {
            let client = ClientKey(address: IPAddress("192.0.2.\(number)"), user: nil)
            for _ in 0..<3 { counts.refused(at("a.test"), by: client, now: number) }
            #expect(counts.count <= 4 && counts.isLeftAlone(at("a.test"), for: client, now: number))
        }
        #expect(!counts.isLeftAlone(at("a.test"), for: ClientKey(address: IPAddress("192.0.2.0"), user: nil), now: 100))
        #expect(counts.isLeftAlone(at("a.test"), for: ClientKey(address: IPAddress("192.0.2.97"), user: nil), now: 100))
    }
}
