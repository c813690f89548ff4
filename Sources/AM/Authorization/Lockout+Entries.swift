/// The counters as shown in the admin API.
extension Lockout {
    public struct Entry: Equatable, Sendable {
        /// The group of refusals that are counted together.
        public enum Scope: String, CaseIterable, Sendable {
            /// All logins with these answers.
            case answers
            /// The logins for one session.
            case session
        }

        /// A short id, stable while the daemon runs. It reveals nothing of the answers.
        public var id: String
        public var scope: Scope
        /// The place of the logins.
        public var place: String
        /// Refusals in a row since the last success.
        public var refusals: Int
        /// Successes in a row since the last refusal.
        public var successes: Int
        public var underWay: Int
        /// The rest of the pause in milliseconds; 0 if logins may start.
        public var heldFor: Int
    }

    /// All counters: paused ones first, then by number of refusals.
    public func entries(now: Int) -> [Entry] {
        let all =
            answers.map { Self.entry($0.key, $0.value, .answers, now) }
            + sessions.map { Self.entry($0.key, $0.value, .session, now) }
        return all.sorted {
            ($0.heldFor, $0.refusals, $1.id) > ($1.heldFor, $1.refusals, $0.id)
        }
    }

    /// Resets all counters, or the one with this id.
    /// - Returns: the number of counters.
    public mutating func clear(_ id: String?) -> Int {
        Self.clear(id, in: &answers) + Self.clear(id, in: &sessions)
    }

    private static func entry(_ key: UInt128, _ tally: Tally, _ scope: Entry.Scope, _ now: Int) -> Entry {
        Entry(
            id: id(key), scope: scope, place: tally.place, refusals: tally.refusals, successes: tally.successes,
            underWay: tally.underWay + tally.granted, heldFor: tally.heldUntil > now ? tally.heldUntil - now : 0)
    }

    private static func clear(_ id: String?, in table: inout [UInt128: Tally]) -> Int {
        var count = 0
        for key in Array(table.keys) where id.map({ $0 == self.id(key) }) ?? true {
            if let tally = table[key], !tally.isInUse {
                table[key] = nil
            } else {
                table[key]?.clear()
            }
            count += 1
        }
        return count
    }

    private static func id(_ key: UInt128) -> String {
        let text = String(UInt32(truncatingIfNeeded: key >> 96), radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}
