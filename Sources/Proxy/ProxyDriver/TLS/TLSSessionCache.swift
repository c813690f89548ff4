import ProxyCore
import TLSEngine

/// The TLS sessions of one loop's origins. The latest of each origin is used first, single-use ones once. Origins that were not
/// used for the longest time are dropped.
struct TLSSessionCache {
    private struct Entry {
        var sessions: [TLSSession] = []
        var used = 0

        /// - Returns: the change of the count.
        mutating func put(_ session: TLSSession, _ time: Int, limit: Int) -> Int {
            used = time
            let before = sessions.count
            // a reusable session replaces all earlier ones
            if !session.isForOneUse { sessions = [] } else if before >= limit { sessions.removeFirst() }
            sessions.append(session)
            return sessions.count - before
        }
    }

    private var entries: [Origin: Entry] = [:]
    private var clock = 0
    private let capacity: Int
    /// The total count.
    private(set) var count = 0
    /// The limit for one origin. Single-use sessions are consumed by concurrent dials, so several are needed.
    private static let perOrigin = 64

    /// - Parameter capacity: the limit of sessions.
    init(capacity: Int = 1024) { self.capacity = max(Self.perOrigin, capacity) }

    mutating func put(_ session: TLSSession, for origin: Origin) {
        clock += 1
        if count >= capacity { forgetHalf() }
        count += entries[origin, default: Entry()].put(session, clock, limit: Self.perOrigin)
    }

    mutating func take(_ origin: Origin) -> TLSSession? {
        clock += 1
        entries[origin]?.used = clock
        guard let session = entries[origin]?.sessions.last else { return nil }
        if session.isForOneUse {
            entries[origin]?.sessions.removeLast()
            count -= 1
            // an origin without sessions needs no entry
            if entries[origin]?.sessions.isEmpty == true { entries[origin] = nil }
        }
        return session
    }

    /// Removes sessions negotiated under the old configuration.
    mutating func removeAll() {
        entries = [:]
        count = 0
    }

    private mutating func forgetHalf() {
        let middle = entries.values.map(\.used).sorted()[entries.count / 2]
        entries = entries.filter { $0.value.used > middle }
        count = entries.values.reduce(0) { $0 + $1.sessions.count }
    }
}
