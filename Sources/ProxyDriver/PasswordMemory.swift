import TLSEngine

/// The last password of each user that was right, as a keyed digest, for a while.
struct PasswordMemory {
    private struct Entry {
        var digest: [UInt8]
        var until: Int
    }

    private var entries: [String: Entry] = [:]
    private let life: Int
    private let capacity: Int

    /// - Parameter life: milliseconds after which a password is checked again.
    init(life: Int = 300_000, capacity: Int = 4096) {
        self.life = life
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    func holds(_ user: String, _ digest: [UInt8], now: Int) -> Bool {
        guard let entry = entries[user], now < entry.until else { return false }
        return KeyedDigest.isSame(entry.digest, digest)
    }

    mutating func remember(_ user: String, _ digest: [UInt8], now: Int) {
        if entries.count >= capacity, entries[user] == nil {
            entries = entries.filter { now < $0.value.until }
            // nobody is locked out by being forgotten: the password is checked once more
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
        }
        entries[user] = Entry(digest: digest, until: now + life)
    }
}
