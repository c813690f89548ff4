import ProxyCore
import TLSEngine

/// What one loop's origins gave to resume by. The latest of each origin is tried first, and what is for one use is given
/// out once; the origins that were longest without a connection are forgotten.
struct SessionShelf {
    private struct Entry {
        var sessions: [TLSSession] = []
        var used = 0
    }

    private var entries: [Origin: Entry] = [:]
    private var clock = 0
    private let capacity: Int
    private static let perOrigin = 4

    /// - Parameter capacity: origins.
    init(capacity: Int = 512) { self.capacity = max(1, capacity) }

    var count: Int { entries.count }

    mutating func put(_ session: TLSSession, for origin: Origin) {
        clock += 1
        if entries.count >= capacity, entries[origin] == nil { forgetHalf() }
        entries[origin, default: Entry()].used = clock
        entries[origin]?.sessions.append(session)
        if let count = entries[origin]?.sessions.count, count > Self.perOrigin {
            entries[origin]?.sessions.removeFirst()
        }
    }

    mutating func take(_ origin: Origin) -> TLSSession? {
        clock += 1
        entries[origin]?.used = clock
        guard let session = entries[origin]?.sessions.last else { return nil }
        if session.isForOneUse { entries[origin]?.sessions.removeLast() }
        return session
    }

    /// What was agreed on under other rules is not to be resumed under these.
    mutating func removeAll() { entries = [:] }

    private mutating func forgetHalf() {
        let middle = entries.values.map(\.used).sorted()[entries.count / 2]
        entries = entries.filter { $0.value.used > middle }
    }
}
