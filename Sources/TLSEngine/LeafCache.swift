/// Certificates of hosts, the least used of which are forgotten, and a brake on making more. Not shared.
public struct LeafCache {
    /// Too many were made of late.
    public struct Exhausted: Error, CustomStringConvertible {
        public let description: String
    }

    private struct Entry {
        var name: String
        var leaf: Certificate
        /// Unix seconds, from when on another one is made.
        var end: Int
        var newer: Int
        var older: Int
    }

    private static let none = -1
    private static let day = 86_400

    private let capacity: Int
    private let rate: Int
    private let burst: Int
    private var places: [String: Int] = [:]
    private var entries: [Entry] = []
    private var newest = none
    private var oldest = none
    /// Thousandths of a certificate that may be made at once.
    private var allowance: Int
    private var refilled: Int?
    /// Certificates that were made.
    public private(set) var made = 0

    /// - Parameters:
    ///   - capacity: certificates that are kept, at least 1.
    ///   - rate: certificates a second that may be made, for as long as it may be.
    ///   - burst: certificates that may be made at once.
    public init(capacity: Int, rate: Int = 500, burst: Int = 2_000) {
        self.capacity = max(1, capacity)
        self.rate = rate
        self.burst = burst
        allowance = burst * 1_000
    }

    public var count: Int { entries.count }

    /// The certificate for that name; made by `mint` where there is none, or it ends soon.
    /// - Parameters:
    ///   - now: milliseconds of a monotonic clock.
    ///   - date: Unix seconds.
    /// - Throws: `Exhausted`, or what `mint` throws.
    public mutating func leaf(for name: String, now: Int, date: Int, mint: () throws -> Certificate) throws -> Certificate
    {
        if let place = places[name], entries[place].end > date {
            touch(place)
            return entries[place].leaf
        }
        try spend(now)
        let leaf = try mint()
        made += 1
        keep(name, leaf)
        return leaf
    }

    private mutating func spend(_ now: Int) throws(Exhausted) {
        allowance = min(burst * 1_000, allowance + max(0, now - (refilled ?? now)) * rate)
        refilled = now
        guard allowance >= 1_000 else {
            throw Exhausted(description: "more certificates for new hosts are asked for than are made, \(rate) a second")
        }
        allowance -= 1_000
    }

    private mutating func keep(_ name: String, _ leaf: Certificate) {
        let entry = Entry(name: name, leaf: leaf, end: leaf.notAfter - Self.day, newer: Self.none, older: Self.none)
        if let place = places[name] {
            unlink(place)
            entries[place] = entry
            link(place)
        } else if entries.count < capacity {
            places[name] = entries.count
            entries.append(entry)
            link(entries.count - 1)
        } else {
            let place = oldest
            unlink(place)
            places[entries[place].name] = nil
            places[name] = place
            entries[place] = entry
            link(place)
        }
    }

    // MARK: the order of use

    private mutating func touch(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func link(_ place: Int) {
        entries[place].older = newest
        entries[place].newer = Self.none
        if newest != Self.none { entries[newest].newer = place }
        newest = place
        if oldest == Self.none { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (entries[place].newer, entries[place].older)
        if newer != Self.none { entries[newer].older = older } else { newest = older }
        if older != Self.none { entries[older].newer = newer } else { oldest = newer }
    }
}
