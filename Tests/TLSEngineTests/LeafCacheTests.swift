import Testing

@testable import TLSEngine

struct LeafCacheTests {
    private static let date = 1_800_000_000
    private static let day = 86_400
    private let authority: CertificateAuthority
    private let key: PrivateKey

    init() throws {
        authority = try .make(name: "Test", constraints: nil, now: Self.date)
        key = try .makeP256()
    }

    private func mint(_ host: String, _ date: Int = date) throws -> Certificate {
        try authority.leaf(for: host, key: key, now: date)
    }

    /// Asks for one host; whether it had to be made.
    private func isMade(_ cache: inout LeafCache, _ host: String, now: Int = 0, date: Int = date) throws -> Bool {
        let before = cache.made
        let leaf = try cache.leaf(for: host, now: now, date: date) { try mint(host, date) }
        #expect(leaf.names == [host.lowercased()])
        return cache.made > before
    }

    @Test("A host is made a certificate for once, whatever its case")
    func once() throws {
        var cache = LeafCache(capacity: 10)
        let first = try cache.leaf(for: "a.example", now: 0, date: Self.date) { try mint("a.example") }
        let second = try cache.leaf(for: "A.Example", now: 1, date: Self.date) { try mint("a.example") }
        #expect(first === second)
        #expect(cache.made == 1)
        #expect(cache.count == 1)
    }

    @Test("What was not asked for the longest makes room")
    func order() throws {
        var cache = LeafCache(capacity: 3)
        for host in ["a", "b", "c"] { #expect(try isMade(&cache, host)) }
        #expect(try !isMade(&cache, "a"))
        #expect(try isMade(&cache, "d"))
        #expect(cache.count == 3)
        for host in ["a", "c", "d"] { #expect(try !isMade(&cache, host), "\(host)") }
        #expect(try isMade(&cache, "b"))
        #expect(try isMade(&cache, "a"))
        #expect(cache.count == 3)
    }

    @Test("Against a plain list of what was used last, over many turns", arguments: [1, 2, 7, 64])
    func model(_ capacity: Int) throws {
        var cache = LeafCache(capacity: capacity)
        var used: [String] = []
        var random = Random(state: UInt64(capacity))
        let leaf = try mint("a")
        var made = 0
        for _ in 0..<5000 {
            let host = "\(random.next() % UInt64(capacity * 2))"
            if let place = used.firstIndex(of: host) {
                used.remove(at: place)
            } else {
                made += 1
                if used.count == capacity { used.removeFirst() }
            }
            used.append(host)
            // time passes, so that the rate does not matter here
            _ = try cache.leaf(for: host, now: made * 10, date: Self.date) { leaf }
            #expect(cache.made == made)
            #expect(cache.count == used.count)
        }
    }

    @Test("A certificate is made again on its last day")
    func renewal() throws {
        var cache = LeafCache(capacity: 3)
        #expect(try isMade(&cache, "a"))
        let end = Self.date + 90 * Self.day
        #expect(try !isMade(&cache, "a", date: end - Self.day - 1))
        #expect(try isMade(&cache, "a", date: end - Self.day))
        #expect(try !isMade(&cache, "a", date: end))
        #expect(cache.count == 1)
    }

    @Test("On the authority's last day each certificate serves for an hour, and not beyond its end")
    func lastDay() throws {
        var cache = LeafCache(capacity: 3)
        let end = authority.certificate.notAfter
        #expect(try isMade(&cache, "a", date: end - 5000))
        #expect(try !isMade(&cache, "a", date: end - 5000 + 3599))
        #expect(try isMade(&cache, "a", date: end - 5000 + 3600))
        #expect(try !isMade(&cache, "a", date: end - 1))
        #expect(throws: MaterialFault.self) { try isMade(&cache, "a", date: end) }
    }

    @Test("No more are made than the rate allows, and those that are there cost nothing")
    func rate() throws {
        var cache = LeafCache(capacity: 100, rate: 10, burst: 3)
        for host in ["a", "b", "c"] { #expect(try isMade(&cache, host, now: 1000)) }
        do {
            _ = try isMade(&cache, "d", now: 1000)
            Issue.record("made")
        } catch let exhausted as LeafCache.Exhausted {
            #expect(exhausted.rate == 10)
            #expect(exhausted.description.contains("10 a second"))
        }
        for _ in 0..<100 { #expect(try !isMade(&cache, "a", now: 1000)) }
        #expect(throws: LeafCache.Exhausted.self) { try isMade(&cache, "d", now: 1099) }
        #expect(try isMade(&cache, "d", now: 1100))
        #expect(throws: LeafCache.Exhausted.self) { try isMade(&cache, "e", now: 1150) }
        // a clock that goes back gives nothing
        #expect(throws: LeafCache.Exhausted.self) { try isMade(&cache, "e", now: 0) }
        // never more than the burst, however long nobody asked
        for host in ["e", "f", "g"] { #expect(try isMade(&cache, host, now: 10_000_000_000_000)) }
        #expect(throws: LeafCache.Exhausted.self) { try isMade(&cache, "h", now: 10_000_000_000_000) }
        #expect(cache.made == 7)
    }

    @Test("What is still valid serves where no more are made")
    func exhaustedRenewal() throws {
        var cache = LeafCache(capacity: 10, rate: 1, burst: 2)
        #expect(try isMade(&cache, "a"))
        #expect(try isMade(&cache, "b"))
        let end = Self.date + 90 * Self.day
        #expect(try !isMade(&cache, "a", date: end - 1))
        #expect(throws: LeafCache.Exhausted.self) { try isMade(&cache, "a", date: end) }
        #expect(try isMade(&cache, "a", now: 1000, date: end))
    }

    @Test("What could not be made is not kept")
    func failure() throws {
        var cache = LeafCache(capacity: 3)
        #expect(throws: MaterialFault.self) { try isMade(&cache, "not a host") }
        #expect(cache.count == 0 && cache.made == 0)
    }

    @Test("Everything can be forgotten")
    func forgetting() throws {
        var cache = LeafCache(capacity: 2)
        for host in ["a", "b"] { #expect(try isMade(&cache, host)) }
        cache.removeAll()
        #expect(cache.count == 0)
        for host in ["c", "a", "b"] { #expect(try isMade(&cache, host)) }
        #expect(cache.count == 2)
    }

    @Test("Ten thousand hosts take no more room than the capacity")
    func bounded() throws {
        var cache = LeafCache(capacity: 50)
        let leaf = try mint("a")
        for number in 0..<10_000 {
            _ = try cache.leaf(for: "\(number).example", now: number * 10, date: Self.date) { leaf }
        }
        #expect(cache.count == 50)
        #expect(cache.made == 10_000)
    }
}

private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        // splitmix64
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
