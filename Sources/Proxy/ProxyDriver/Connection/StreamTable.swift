import ProxyCore

/// The origin streams of one client connection's exchanges, being dialed or in use. There are few, so look-ups scan.
struct StreamTable {
    enum Entry {
        case dial(Dial)
        /// Waits to learn whether the origin is alive, or which upgrades it accepts.
        case probe(OriginChannel)
        case stream(OriginStream)
    }

    private struct Slot {
        let id: ExchangeID
        var entry: Entry
        /// True if its reading has to be updated.
        var isDue = true
    }

    private var slots: [Slot] = []

    subscript(id: ExchangeID) -> Entry? {
        get { slots.first { $0.id == id }?.entry }
        set {
            slots.removeAll { $0.id == id }
            if let newValue { slots.append(Slot(id: id, entry: newValue)) }
        }
    }

    @discardableResult
    mutating func remove(_ id: ExchangeID) -> Entry? {
        guard let index = slots.firstIndex(where: { $0.id == id }) else { return nil }
        return slots.remove(at: index).entry
    }

    func stream(_ id: ExchangeID) -> OriginStream? {
        if case .stream(let stream) = self[id] { stream } else { nil }
    }

    func forEachStream(_ body: (ExchangeID, OriginStream) -> Void) {
        for slot in slots { if case .stream(let stream) = slot.entry { body(slot.id, stream) } }
    }

    // MARK: reading

    /// Marks an exchange as changed.
    mutating func note(_ id: ExchangeID) {
        guard let index = slots.firstIndex(where: { $0.id == id }) else { return }
        slots[index].isDue = true
    }

    /// Updates the reading of streams: those of changed exchanges, paused ones, or all.
    mutating func read(all: Bool, _ isWanted: (ExchangeID) -> Bool) {
        for index in slots.indices where all || slots[index].isDue {
            guard case .stream(let stream) = slots[index].entry else { continue }
            let isRead = isWanted(slots[index].id)
            stream.codec.read(stream.id, isRead)
            slots[index].isDue = !isRead
        }
    }

    /// The channel for raw relay of an exchange; nil if all bytes are in frames.
    func relay(of id: ExchangeID) -> OriginChannel? { stream(id)?.codec.relay }

    /// Any exchange with an entry.
    var any: ExchangeID? { slots.first?.id }
}
