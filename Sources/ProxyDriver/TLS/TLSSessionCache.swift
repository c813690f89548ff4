import ProxyCore
import TLSEngine

/// What one loop's origins gave to resume by. The latest of each origin is tried first, and what is for one use is given
/// out once; the origins that were longest without a connection are forgotten.
struct TLSSessionCache {
    private struct Entry {
        var sessions: [TLSSession] = []
        var used = 0

        /// - Returns: by how many there are more.
        mutating func put(_ session: TLSSession, _ time: Int, limit: Int) -> Int {
            used = time
            let before = sessions.count
            // what may be used again and again is as good as all before it
            if !session.isForOneUse { sessions = [] } else if before >= limit { sessions.removeFirst() }
            sessions.append(session)
            return sessions.count - before
        }
    }

    private var entries: [Origin: Entry] = [:]
    private var clock = 0
    private let capacity: Int
    /// In all.
    private(set) var count = 0
    /// What is for one use is away while its connection is made, so there have to be as many as connections are made at once.
    private static let perOrigin = 64

    /// - Parameter capacity: sessions.
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
            // an origin that gives no more is not remembered for it
            if entries[origin]?.sessions.isEmpty == true { entries[origin] = nil }
        }
        return session
    }

    /// What was agreed on under other rules is not to be resumed under these.
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
