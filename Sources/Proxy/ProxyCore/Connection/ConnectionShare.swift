/// A connection's part of its client's share. Deinitialization gives it back.
public final class ConnectionShare {
    private let shares: any ShareStore
    private var client: ClientIdentity?
    /// Reserved bytes in all.
    private var reserved = 0
    /// Reserved exchanges beyond the first.
    private var streams = 0
    /// The bytes of each exchange. Few exchanges of a connection hold any at a time.
    private var holdings: [(id: ExchangeID, bytes: Int)] = []

    /// Bytes that an exchange may hold without a reservation: the limits on connections and streams bound their sum.
    static let small = 8 << 10
    /// The unit in which bytes are reserved.
    private static let piece = 32 << 10
    /// The unit in which exchanges are reserved. The first exchange of a connection needs no reservation.
    private static let streamPiece = 8

    public init(
        _ shares: any ShareStore, for client: ClientIdentity?, _ limits: Limits
    ) throws(ClientShares.Refusal) {
        if let refusal = shares.change({ $0.admit(client, limits) }) { throw refusal }
        self.shares = shares
        self.client = client
    }

    /// The share of a further connection of the same client.
    func another(_ limits: Limits) throws(ClientShares.Refusal) -> ConnectionShare {
        try ConnectionShare(shares, for: client, limits)
    }

    deinit { shares.change { $0.leave(client, bytes: reserved, streams: streams) } }

    /// Moves the connection to another client. False, without a change, when that client has its full share.
    func becomes(_ new: ClientIdentity, _ limits: Limits) -> Bool {
        if new == client { return true }
        guard shares.change({ $0.move(from: client, to: new, bytes: reserved, streams: streams, limits) }) else {
            return false
        }
        client = new
        return true
    }

    /// Reserves room for so many concurrent exchanges. False when there is none.
    /// - Parameter limit: how many the client may have, beyond the first of each of its connections.
    func begin(_ exchanges: Int, _ limit: Int) -> Bool {
        let more = exchanges - 1 - streams
        guard more > 0, let client else { return true }
        // the last few places are reserved one by one
        for count in [max(more, Self.streamPiece), more]
        where shares.change({ $0.begin(count, for: client, limit) }) {
            streams += count
            return true
        }
        return false
    }

    /// Keeps room for the exchanges still under way and one unit more, and gives back the rest.
    func end(_ exchanges: Int) {
        let needed =
            exchanges == 0 ? 0 : (exchanges - 1 + 2 * Self.streamPiece - 1) / Self.streamPiece * Self.streamPiece
        guard streams > needed, let client else { return }
        shares.change { $0.end(streams - needed, of: client) }
        streams = needed
    }

    /// Reserves room for all the bytes of an exchange. False when there is none.
    func hold(_ bytes: Int, of id: ExchangeID, _ limits: Limits) -> Bool {
        let wanted = bytes <= Self.small ? 0 : (bytes + Self.piece - 1) / Self.piece * Self.piece
        let index = holdings.firstIndex { $0.id == id }
        let more = wanted - (index.map { holdings[$0].bytes } ?? 0)
        guard more > 0 else { return true }
        guard shares.change({ $0.hold(more, for: client, limits) }) else { return false }
        reserved += more
        if let index { holdings[index].bytes = wanted } else { holdings.append((id, wanted)) }
        return true
    }

    /// Frees the bytes of an exchange.
    func letGo(of id: ExchangeID) {
        guard let index = holdings.firstIndex(where: { $0.id == id }) else { return }
        letGo(holdings.remove(at: index).bytes)
    }

    /// Frees the bytes of all exchanges.
    func letGo() {
        holdings = []
        letGo(reserved)
    }

    private func letGo(_ bytes: Int) {
        guard bytes > 0 else { return }
        shares.change { $0.letGo(bytes, of: client) }
        reserved -= bytes
    }
}
