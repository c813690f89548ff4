public import ProxyCore

/// The refused certificates of all loops. It is used once for each tunnel that may be decrypted.
typealias RefusalTable = SharedLedger<RefusalCounts>

extension RefusalTable: RefusalStore {
    public func began(_ place: ServerPlace, by client: ClientKey) { change { $0.began(place, by: client) } }

    public func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool) {
        change { $0.ended(place, by: client, isDone: isDone, now: now) }
    }

    public func refused(_ place: ServerPlace, by client: ClientKey) {
        change { $0.refused(place, by: client, now: now) }
    }

    public func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure {
        change { $0.left(place, by: client, now: now) }
    }

    public func accepted(_ place: ServerPlace, by client: ClientKey) {
        change { $0.accepted(place, by: client, now: now) }
    }

    public func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool {
        change { $0.isLeftAlone(place, for: client, now: now) }
    }
}
