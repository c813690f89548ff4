import ProxyCore

/// The origins' streams of one client's exchanges: being made, or in use. There are few, so they are looked through.
struct StreamTable {
    enum Entry {
        case dial(Dial)
        /// It waits to know whether the origin is there.
        case probe(OriginChannel)
        case stream(OriginStream)
    }

    private var entries: [(id: ExchangeID, entry: Entry)] = []

    subscript(id: ExchangeID) -> Entry? {
        get { entries.first { $0.id == id }?.entry }
        set {
            entries.removeAll { $0.id == id }
            if let newValue { entries.append((id, newValue)) }
        }
    }

    @discardableResult
    mutating func remove(_ id: ExchangeID) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        return entries.remove(at: index).entry
    }

    func stream(_ id: ExchangeID) -> OriginStream? {
        if case .stream(let stream) = self[id] { stream } else { nil }
    }

    func forEachStream(_ body: (ExchangeID, OriginStream) -> Void) {
        for (id, entry) in entries { if case .stream(let stream) = entry { body(id, stream) } }
    }

    /// The channel that is in use where the client has one exchange at a time, which has the whole of it.
    var channel: OriginChannel? {
        for (_, entry) in entries { if case .stream(let stream) = entry, stream.id == nil { return stream.channel } }
        return nil
    }

    /// An exchange that has one.
    var any: ExchangeID? { entries.first?.id }
}
