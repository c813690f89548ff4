import ProxyCore

/// The origins' streams of one client's exchanges: being made, or in use. There are few, so they are looked through.
struct StreamTable {
    enum Entry {
        case dial(Dial)
        /// It waits to know whether the origin is there, or what it takes.
        case probe(OriginChannel)
        case stream(OriginStream)
    }

    private struct Slot {
        let id: ExchangeID
        var entry: Entry
        /// Whether it is to be read has to be found out: something happened to its exchange, or it waits for that.
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

    /// Something happened to that exchange.
    mutating func note(_ id: ExchangeID) {
        guard let index = slots.firstIndex(where: { $0.id == id }) else { return }
        slots[index].isDue = true
    }

    /// Has streams read, or not, as is wanted: those to which something happened, those that are not read, or all.
    mutating func read(all: Bool, _ isWanted: (ExchangeID) -> Bool) {
        for index in slots.indices where all || slots[index].isDue {
            guard case .stream(let stream) = slots[index].entry else { continue }
            let isRead = isWanted(slots[index].id)
            stream.codec.read(stream.id, isRead)
            slots[index].isDue = !isRead
        }
    }

    /// Where the client's bytes may go as they are, and for which exchange; nil where messages are made of all of them.
    var relay: (exchange: ExchangeID, channel: OriginChannel)? {
        for slot in slots {
            if case .stream(let stream) = slot.entry, let channel = stream.codec.relay { return (slot.id, channel) }
        }
        return nil
    }

    /// An exchange that has one.
    var any: ExchangeID? { slots.first?.id }
}
