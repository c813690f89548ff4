internal import Addresses

/// A cache of leaf certificates. An entry is dropped shortly before it expires, or as the least recently used. It has no lock;
/// its owner must guard it.
public struct LeafCache: Sendable {
    /// The error for too many new hosts in a short time.
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
        /// The time of renewal in Unix seconds.
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

    /// The certificates that may be made now, in thousandths.
    private var allowance: Int
    /// Monotonic milliseconds.
    private var lastFilled: Int?

    private static let day = 86_400
    private static let hour = 3600

    /// - Parameters:
    ///   - capacity: how many certificates are kept, at least 1.
    ///   - rate: how many certificates are made in a second.
    ///   - burst: how many may be made at once after a pause.
    public init(capacity: Int, rate: Int = 500, burst: Int = 2_000) {
        self.capacity = max(1, capacity)
        self.rate = rate
        self.burst = burst
        allowance = burst * 1_000
    }

    public var count: Int { places.count }

    /// Returns the certificate for a host. Makes one if there is none, or if its last day has come. If too many were made
    /// recently, the old one serves on that day, too.
    /// - Parameters:
    ///   - now: monotonic milliseconds, for the rate.
    ///   - date: Unix seconds, for the end of certificates.
    /// - Throws: `Exhausted` if too many were made recently, and the errors of `mint`.
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
        // on the CA's own last day, each connection would otherwise renew
        let renewal = max(end - Self.day, min(end, date + Self.hour))
        if let known {
            slots[known].leaf = leaf
            slots[known].renewal = renewal
        } else {
            insert(Slot(host: host, leaf: leaf, renewal: renewal))
        }
        return leaf
    }

    /// Removes all certificates, when their CA is no longer used.
    public mutating func removeAll() {
        slots = []
        places = [:]
        newest = nil
        oldest = nil
    }

    private mutating func take(_ now: Int) -> Bool {
        let passed = max(0, now - (lastFilled ?? now))
        lastFilled = now
        // after this long it is full at any rate
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
