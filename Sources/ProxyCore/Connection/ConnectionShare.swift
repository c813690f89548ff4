/// One connection's part of its client's share. What it holds goes back when it goes.
public final class ConnectionShare {
    private let shares: any ShareStore
    private var client: ClientIdentity?
    /// Bytes in all.
    private var reserved = 0
    /// Exchanges beyond the first that there is room for.
    private var streams = 0
    /// Whose they are. Few exchanges of a connection have any at a time.
    private var holdings: [(id: ExchangeID, bytes: Int)] = []

    /// Bytes that any exchange may hold without asking: the number of connections, and of streams on each, bounds these.
    static let small = 8 << 10
    /// Room is taken in pieces of this size.
    private static let piece = 32 << 10
    /// Likewise for exchanges. The first of a connection has its room with that.
    private static let streamPiece = 8

    public init(
        _ shares: any ShareStore, for client: ClientIdentity?, _ limits: Limits
    ) throws(ClientShares.Refusal) {
        if let refusal = shares.withShares({ $0.admit(client, limits) }) { throw refusal }
        self.shares = shares
        self.client = client
    }

    /// What a further connection of the same client has.
    func another(_ limits: Limits) throws(ClientShares.Refusal) -> ConnectionShare {
        try ConnectionShare(shares, for: client, limits)
    }

    deinit { shares.withShares { $0.leave(client, bytes: reserved, streams: streams) } }

    /// False where that client has its share of connections: this one then counts as whose it was.
    func becomes(_ new: ClientIdentity, _ limits: Limits) -> Bool {
        if new == client { return true }
        guard shares.withShares({ $0.move(from: client, to: new, bytes: reserved, streams: streams, limits) }) else {
            return false
        }
        client = new
        return true
    }

    /// Makes sure that there is room for so many exchanges at a time. False where there is none.
    /// - Parameter limit: how many the client may have, beyond the first of each of its connections.
    func begin(_ exchanges: Int, _ limit: Int) -> Bool {
        let more = exchanges - 1 - streams
        guard more > 0, let client else { return true }
        // the last few are given one by one
        for count in [max(more, Self.streamPiece), more]
        where shares.withShares({ $0.begin(count, for: client, limit) }) {
            streams += count
            return true
        }
        return false
    }

    /// So many are under way still: gives back what is more than these need, and a piece for those to come.
    func end(_ exchanges: Int) {
        let needed =
            exchanges == 0 ? 0 : (exchanges - 1 + 2 * Self.streamPiece - 1) / Self.streamPiece * Self.streamPiece
        guard streams > needed, let client else { return }
        shares.withShares { $0.end(streams - needed, of: client) }
        streams = needed
    }

    /// Makes sure that there is room for so many bytes of an exchange in all. False where there is none.
    func hold(_ bytes: Int, of id: ExchangeID, _ limits: Limits) -> Bool {
        let wanted = bytes <= Self.small ? 0 : (bytes + Self.piece - 1) / Self.piece * Self.piece
        let index = holdings.firstIndex { $0.id == id }
        let more = wanted - (index.map { holdings[$0].bytes } ?? 0)
        guard more > 0 else { return true }
        guard shares.withShares({ $0.hold(more, for: client, limits) }) else { return false }
        reserved += more
        if let index { holdings[index].bytes = wanted } else { holdings.append((id, wanted)) }
        return true
    }

    /// Gives back the room that an exchange has.
    func letGo(of id: ExchangeID) {
        guard let index = holdings.firstIndex(where: { $0.id == id }) else { return }
        letGo(holdings.remove(at: index).bytes)
    }

    /// Gives all of that room back.
    func letGo() {
        holdings = []
        letGo(reserved)
    }

    private func letGo(_ bytes: Int) {
        guard bytes > 0 else { return }
        shares.withShares { $0.letGo(bytes, of: client) }
        reserved -= bytes
    }
}
