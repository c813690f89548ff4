internal import TLSEngine

/// Observed journeys of apps with devices, by the app's next `authId`.
struct SeenJourneys: Sendable {
    private struct Entry {
        let journey: SeenJourney
        let until: Int
    }

    private var entries: [[UInt8]: Entry] = [:]
    static let most = 1024
    /// Milliseconds. AM's own limit of a journey is five minutes.
    static let lifetime = 600_000

    private static func key(_ authId: String) -> [UInt8] { Digest.sha256(Array(authId.utf8)) }

    /// - Parameter now: in milliseconds.
    func journey(_ authId: String, now: Int) -> SeenJourney? {
        entries[Self.key(authId)].flatMap { $0.until > now ? $0.journey : nil }
    }

    mutating func remember(_ journey: SeenJourney, _ authId: String, now: Int) {
        let key = Self.key(authId)
        if entries[key] == nil, entries.count >= Self.most {
            entries = entries.filter { $0.value.until > now }
            if entries.count >= Self.most, let first = entries.min(by: { $0.value.until < $1.value.until }) {
                entries[first.key] = nil
            }
        }
        entries[key] = Entry(journey: journey, until: now + Self.lifetime)
    }
}
