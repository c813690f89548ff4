/// One connection's part of its client's share. What it holds goes back when it goes.
public final class ConnectionShare {
    private let shares: any ShareStore
    private var client: ClientIdentity?
    private var reserved = 0

    /// Bytes that any connection may hold without asking: the number of connections bounds these.
    static let small = 8 << 10
    /// Room is taken in pieces of this size.
    private static let piece = 32 << 10

    public init(
        _ shares: any ShareStore, for client: ClientIdentity?, _ limits: Limits
    ) throws(ClientShares.Refusal) {
        if let refusal = shares.withShares({ $0.admit(client, limits) }) { throw refusal }
        self.shares = shares
        self.client = client
    }

    deinit { shares.withShares { $0.leave(client, bytes: reserved) } }

    /// False where that client has its share of connections: this one then counts as whose it was.
    func becomes(_ new: ClientIdentity, _ limits: Limits) -> Bool {
        if new == client { return true }
        guard shares.withShares({ $0.move(from: client, to: new, bytes: reserved, limits) }) else { return false }
        client = new
        return true
    }

    /// Makes sure that there is room for so many bytes in all. False where there is none.
    func hold(_ bytes: Int, _ limits: Limits) -> Bool {
        let wanted = bytes <= Self.small ? 0 : (bytes + Self.piece - 1) / Self.piece * Self.piece
        guard wanted > reserved else { return true }
        guard shares.withShares({ $0.hold(wanted - reserved, for: client, limits) }) else { return false }
        reserved = wanted
        return true
    }

    /// Gives all of that room back.
    func letGo() {
        guard reserved > 0 else { return }
        shares.withShares { $0.letGo(reserved, of: client) }
        reserved = 0
    }
}
