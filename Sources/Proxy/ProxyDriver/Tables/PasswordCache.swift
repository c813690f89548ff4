import Addresses
import Passwords
import TLSEngine

/// The last right password of each user and client network, as a keyed digest, for a while. A password from another network is
/// checked and counted anew.
struct PasswordCache {
    struct Holder: Hashable {
        let network: AddressBlock?
        let user: String

        init(_ check: PasswordCheck) {
            network = check.client?.clientNetwork
            user = check.user
        }
    }

    private struct Entry {
        var digest: [UInt8]
        var until: Int
    }

    private var entries: [Holder: Entry] = [:]
    private let life: Int
    private let capacity: Int

    /// - Parameter life: milliseconds after which a password is checked again.
    init(life: Int = 300_000, capacity: Int = 4096) {
        self.life = life
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    func holds(_ holder: Holder, _ digest: [UInt8], now: Int) -> Bool {
        guard let entry = entries[holder], now < entry.until else { return false }
        return KeyedDigest.isSame(entry.digest, digest)
    }

    mutating func remember(_ holder: Holder, _ digest: [UInt8], now: Int) {
        if entries.count >= capacity, entries[holder] == nil {
            entries = entries.filter { now < $0.value.until }
            // dropping all entries locks nobody out: passwords are checked once more
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
        }
        entries[holder] = Entry(digest: digest, until: now + life)
    }

    /// Drops an entry after too many wrong passwords, so that no further one is compared with it.
    mutating func forget(_ holder: Holder) { entries[holder] = nil }
}
