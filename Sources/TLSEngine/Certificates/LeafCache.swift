internal import Addresses

/// A cache of the certificates made for hosts. One is dropped shortly before it expires, or as the least recently used. A
/// value without a lock: its owner must guard it.
public struct LeafCache: Sendable {
    /// More hosts were asked for than may be made certificates for.
    public struct Exhausted: Error, CustomStringConvertible {
        /// Certificates a second.
        public let rate: Int

        public var description: String {
            "more certificates for new hosts are asked for than are made, \(rate) a second; try again in a second"
        }
    }

    private struct Slot {
        var host: String
        var leaf: Certificate
        /// The time from which it is made again, in Unix seconds.
        var renewal: Int
        /// The neighbours in `slots` in the order of use; `older` was used before this one.
        var older: Int?
        var newer: Int?
    }

    /// The number of certificates made so far.
    public private(set) var made = 0
    public let capacity: Int
    private let rate: Int
    private let burst: Int

    private var slots: [Slot] = []
    private var places: [String: Int] = [:]
    private var newest: Int?
    private var oldest: Int?

    /// Thousandths of a certificate that may be made now.
    private var allowance: Int
    /// Monotonic milliseconds.
    private var lastFilled: Int?

    private static let day = 86_400
    private static let hour = 3600

    /// - Parameters:
    ///   - capacity: certificates that are kept, at least 1.
    ///   - rate: certificates that are made in a second.
    ///   - burst: those that may be made at once after a while of none.
    public init(capacity: Int, rate: Int = 500, burst: Int = 2_000) {
        self.capacity = max(1, capacity)
        self.rate = rate
        self.burst = burst
        allowance = burst * 1_000
    }

    public var count: Int { places.count }

    /// The certificate for that host, made where there is none or its last day has come. On that day it still serves where too
    /// many were made of late.
    /// - Parameters:
    ///   - now: monotonic milliseconds, which the rate is counted by.
    ///   - date: Unix seconds, which certificates end by.
    /// - Throws: `Exhausted` where too many were made of late; what `mint` throws.
    public mutating func leaf(
        for host: String, now: Int, date: Int, mint: () throws -> Certificate
    ) throws -> Certificate {
        let host = HostName.normalized(host)
        let known = places[host]
        if let known {
            use(known)
            if slots[known].renewal > date { return slots[known].leaf }
        }
        guard take(now) else {
            if let known, slots[known].leaf.notAfter > date { return slots[known].leaf }
            throw Exhausted(rate: rate)
        }
        let leaf = try mint()
        made += 1
        let end = leaf.notAfter
        // the authority's own last day would otherwise see a new one for each connection
        let renewal = max(end - Self.day, min(end, date + Self.hour))
        if let known {
            slots[known].leaf = leaf
            slots[known].renewal = renewal
        } else {
            insert(Slot(host: host, leaf: leaf, renewal: renewal))
        }
        return leaf
    }

    /// Forgets every certificate: they are by an authority that is no longer used.
    public mutating func removeAll() {
        slots = []
        places = [:]
        newest = nil
        oldest = nil
    }

    private mutating func take(_ now: Int) -> Bool {
        let passed = max(0, now - (lastFilled ?? now))
        lastFilled = now
        // beyond that time it is full, whatever the rate
        allowance = min(burst * 1_000, allowance + min(passed, 1_000_000_000) * rate)
        guard allowance >= 1_000 else { return false }
        allowance -= 1_000
        return true
    }

    // MARK: order of use

    private mutating func insert(_ slot: Slot) {
        let place: Int
        if slots.count >= capacity, let oldest {
            place = oldest
            unlink(place)
            places[slots[place].host] = nil
            slots[place] = slot
        } else {
            place = slots.count
            slots.append(slot)
        }
        places[slot.host] = place
        link(place)
    }

    private mutating func use(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func link(_ place: Int) {
        slots[place].older = newest
        slots[place].newer = nil
        if let newest { slots[newest].newer = place }
        newest = place
        if oldest == nil { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let older = slots[place].older
        let newer = slots[place].newer
        if let older { slots[older].newer = newer } else { oldest = newer }
        if let newer { slots[newer].older = older } else { newest = older }
    }
}
