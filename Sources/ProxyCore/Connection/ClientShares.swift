public import Addresses
import HTTPCodec

/// Who holds something of the proxy: whoever has shown a password is that user, wherever it comes from; anybody else is
/// the network of its address.
public enum ClientIdentity: Hashable, Sendable {
    case network(AddressBlock)
    case user(String)
}

/// What clients hold of the proxy, connections, streams on them and bytes of bodies, so that none of them can take it all. Who holds nothing
/// has no entry: connections bound the table.
public struct ClientShares: Sendable {
    /// Why a connection is one too many.
    public enum Refusal: Error, Equatable, Sendable {
        /// There are as many as `limits.connections` allows.
        case all
        /// The client has as many as `limits.per_client` allows.
        case client
    }

    private struct Holding {
        var connections = 0
        /// Exchanges beyond the first of each connection that may be under way.
        var streams = 0
        var bytes = 0
    }

    private var holdings: [ClientIdentity: Holding] = [:]
    public private(set) var connections = 0
    public private(set) var bytes = 0

    public init() {}

    /// Clients that hold anything.
    public var count: Int { holdings.count }

    /// Takes one more connection.
    /// - Parameter client: nil as long as it is not known: a balancer has yet to name it.
    mutating func admit(_ client: ClientIdentity?, _ limits: Limits) -> Refusal? {
        guard connections < limits.connections else { return .all }
        if let client {
            guard holdings[client, default: Holding()].connections < limits.perClient else { return .client }
            holdings[client, default: Holding()].connections += 1
        }
        connections += 1
        return nil
    }

    /// A connection turns out to be another client's, and takes along what it holds. False, and nothing changed, where that
    /// one has its share.
    mutating func move(
        from old: ClientIdentity?, to new: ClientIdentity, bytes: Int, streams: Int, _ limits: Limits
    ) -> Bool {
        guard holdings[new, default: Holding()].connections < limits.perClient else { return false }
        if let old { change(old, connections: -1, bytes: -bytes, streams: -streams) }
        change(new, connections: 1, bytes: bytes, streams: streams)
        return true
    }

    /// Takes room for more exchanges on connections that have one: as many in all as `limit`.
    mutating func begin(_ streams: Int, for client: ClientIdentity, _ limit: Int) -> Bool {
        guard streams <= limit - holdings[client, default: Holding()].streams else { return false }
        change(client, streams: streams)
        return true
    }

    mutating func end(_ streams: Int, of client: ClientIdentity) { change(client, streams: -streams) }

    /// Takes room for bytes: half of all there is may be one client's.
    mutating func hold(_ more: Int, for client: ClientIdentity?, _ limits: Limits) -> Bool {
        guard more <= limits.buffered - bytes else { return false }
        if let client {
            guard more <= limits.clientBuffered - holdings[client, default: Holding()].bytes else { return false }
            change(client, bytes: more)
        }
        bytes += more
        return true
    }

    mutating func letGo(_ less: Int, of client: ClientIdentity?) {
        if let client { change(client, bytes: -less) }
        bytes -= less
    }

    /// A connection has ended.
    mutating func leave(_ client: ClientIdentity?, bytes: Int, streams: Int) {
        if let client { change(client, connections: -1, bytes: -bytes, streams: -streams) }
        connections -= 1
        self.bytes -= bytes
    }

    private mutating func change(_ client: ClientIdentity, connections: Int = 0, bytes: Int = 0, streams: Int = 0) {
        var holding = holdings[client, default: Holding()]
        holding.connections += connections
        holding.streams += streams
        holding.bytes += bytes
        holdings[client] = holding.connections > 0 ? holding : nil
    }
}

/// The shares as all loops see them: asked when a connection comes, goes or turns out to be somebody's, for bodies that are no
/// small ones, and where a connection begins to have many exchanges at a time; never on the way of a plain request.
public protocol ShareStore: AnyObject, Sendable {
    func withShares<Result>(_ body: (inout ClientShares) -> Result) -> Result
}
