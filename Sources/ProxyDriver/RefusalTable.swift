import EventLoop
public import ProxyCore

/// Hosts whose certificate clients refuse: after three times in a row their TLS is left alone for an hour.
public final class RefusalTable: RefusalMemory {
    private struct Entry {
        var count: Int
        var last: Int
    }

    private let entries = Locked<[String: Entry]>([:])
    private static let enough = 3
    /// Milliseconds.
    private static let life = 3_600_000
    private static let capacity = 4096

    public init() {}

    public func refused(_ host: String) { refused(host, now: Loop.monotonicMilliseconds()) }

    func refused(_ host: String, now: Int) {
        entries.withLock { entries in
            if entries.count >= Self.capacity, entries[host] == nil {
                entries = entries.filter { now - $0.value.last < Self.life }
                // what is forgotten is learnt again
                if entries.count >= Self.capacity { entries = [:] }
            }
            let old = entries[host].flatMap { now - $0.last < Self.life ? $0.count : nil } ?? 0
            entries[host] = Entry(count: old + 1, last: now)
        }
    }

    public func accepted(_ host: String) { entries.withLock { _ = $0.removeValue(forKey: host) } }

    public func isLeftAlone(_ host: String) -> Bool { isLeftAlone(host, now: Loop.monotonicMilliseconds()) }

    func isLeftAlone(_ host: String, now: Int) -> Bool {
        entries.withLock { entries in
            entries[host].map { $0.count >= Self.enough && now - $0.last < Self.life } ?? false
        }
    }
}
