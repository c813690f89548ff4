import Addresses
import ProxyCore
import Testing

@Suite("Refused certificates, counted")
struct RefusalCountsTests {
    private let hour = 3_600_000
    private let alice = ClientKey(address: IPAddress("192.0.2.1"), user: nil)
    private let bob = ClientKey(address: IPAddress("192.0.2.2"), user: nil)

    @Test func threeOfOneClientEndItForThatClientAlone() {
        var counts = RefusalCounts()
        for time in 0..<3 {
            #expect(!counts.isLeftAlone("a.test", for: alice, now: time))
            counts.refused("a.test", by: alice, now: time)
        }
        #expect(counts.isLeftAlone("a.test", for: alice, now: 3))
        #expect(!counts.isLeftAlone("b.test", for: alice, now: 3))
        #expect(!counts.isLeftAlone("a.test", for: bob, now: 3))
        // another's do not add to one's own
        counts.refused("a.test", by: bob, now: 4)
        #expect(!counts.isLeftAlone("a.test", for: bob, now: 5))
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
        for _ in 0..<2 { counts.refused("a.test", by: alice, now: 0) }
        counts.accepted("a.test", by: bob)
        counts.accepted("a.test", by: alice)
        #expect(counts.count == 0)
        for _ in 0..<2 { counts.refused("a.test", by: alice, now: 0) }
        #expect(!counts.isLeftAlone("a.test", for: alice, now: 0))
    }

    @Test func itEndsAnHourAfterTheLast() {
        var counts = RefusalCounts()
        for time in [0, 1, hour] { counts.refused("a.test", by: alice, now: time) }
        #expect(counts.isLeftAlone("a.test", for: alice, now: 2 * hour - 1))
        #expect(!counts.isLeftAlone("a.test", for: alice, now: 2 * hour))
        // and then three more are needed
        counts.refused("a.test", by: alice, now: 2 * hour)
        #expect(!counts.isLeftAlone("a.test", for: alice, now: 2 * hour))
    }

    @Test func aClientPushesOutItsOwnAlone() {
        var counts = RefusalCounts(clients: 4, hosts: 8)
        for _ in 0..<3 { counts.refused("a.test", by: bob, now: 0) }
        for _ in 0..<3 { counts.refused("first.test", by: alice, now: 1) }
        for number in 0..<1_000 {
            counts.refused("\(number).test", by: alice, now: 2 + number)
            #expect(counts.count <= 9)
        }
        #expect(counts.isLeftAlone("a.test", for: bob, now: 2_000))
        #expect(!counts.isLeftAlone("first.test", for: alice, now: 2_000))
    }

    @Test func clientsAreBoundedAndTheOldestIsForgotten() {
        var counts = RefusalCounts(clients: 4, hosts: 8)
        for number in 0..<100 {
            let client = ClientKey(address: IPAddress("192.0.2.\(number)"), user: nil)
            for _ in 0..<3 { counts.refused("a.test", by: client, now: number) }
            #expect(counts.count <= 4 && counts.isLeftAlone("a.test", for: client, now: number))
        }
        #expect(!counts.isLeftAlone("a.test", for: ClientKey(address: IPAddress("192.0.2.0"), user: nil), now: 100))
        #expect(counts.isLeftAlone("a.test", for: ClientKey(address: IPAddress("192.0.2.97"), user: nil), now: 100))
    }
}
