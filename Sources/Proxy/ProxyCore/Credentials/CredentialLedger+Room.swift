/// Drops entries when the store is full.
extension CredentialLedger {
    /// Several entries are dropped at a time, so that not every new one searches all of them.
    private static var share: Int { max(1, Value.most / 16) }

    /// Drops entries without a credential first, then the least recently used ones of the owner with the most.
    /// - Returns: false if all entries have fetches under way.
    mutating func makeRoom() -> Bool {
        guard entries.count >= Value.most else { return true }
        var owned: [Key.Owner: [(key: Key, asked: Int, isEmpty: Bool)]] = [:]
        for (key, entry) in entries where entry.fetch == nil {
            owned[key.owner, default: []].append((key, entry.lastUsed, entry.value == nil))
        }
        var order: [(key: Key, asked: Int, isEmpty: Bool, newer: Int)] = []
        for var (_, keys) in owned {
            keys.sort { $0.isEmpty != $1.isEmpty ? $1.isEmpty : $0.asked > $1.asked }
            for (newer, one) in keys.enumerated() { order.append((one.key, one.asked, one.isEmpty, newer)) }
        }
        order.sort { left, right in
            if left.isEmpty != right.isEmpty { return left.isEmpty }
            return left.newer != right.newer ? left.newer > right.newer : left.asked < right.asked
        }
        for one in order.prefix(Self.share) {
            entries[one.key] = nil
            changed?.insert(one.key)
        }
        return entries.count < Value.most
    }
}
