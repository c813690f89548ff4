import ProxyCore

/// The origins' streams of one client's exchanges: being made, or in use. There are few, so they are looked through.
struct StreamTable {
    enum Stream {
        case dial(Dial)
        case channel(OriginChannel)
    }

    private var entries: [(id: ExchangeID, stream: Stream)] = []

    subscript(id: ExchangeID) -> Stream? {
        get { entries.first { $0.id == id }?.stream }
        set {
            entries.removeAll { $0.id == id }
            if let newValue { entries.append((id, newValue)) }
        }
    }

    @discardableResult
    mutating func remove(_ id: ExchangeID) -> Stream? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        return entries.remove(at: index).stream
    }

    func channel(_ id: ExchangeID) -> OriginChannel? {
        if case .channel(let channel) = self[id] { channel } else { nil }
    }

    /// The channel that is in use.
    var channel: OriginChannel? {
        for entry in entries { if case .channel(let channel) = entry.stream { return channel } }
        return nil
    }

    /// An exchange that has one.
    var any: ExchangeID? { entries.first?.id }
}
