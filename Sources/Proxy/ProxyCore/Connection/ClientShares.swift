public import Addresses
import HTTPCodec

/// The identity by which resources are counted: the user after a login, from any address; otherwise the network of
/// the client's address.
public enum ClientIdentity: Hashable, Sendable {
    case network(AddressBlock)
    case user(String)
}

/// Counts the connections, streams and body bytes that each client holds, so that no client takes them all. A client that
/// holds nothing has no entry, so the number of connections bounds the table.
public struct ClientShares: Sendable {
    /// The limit that refuses a connection.
    public enum Refusal: Error, Equatable, Sendable {
        /// The process has as many connections as `limits.connections` allows.
        case all
        /// The client has as many connections as `limits.per_client` allows.
        case client
    }

    private struct Holding {
        var connections = 0
        /// Exchanges under way beyond the first of each connection.
        var streams = 0
        var bytes = 0
    }

    private var holdings: [ClientIdentity: Holding] = [:]
    public private(set) var connections = 0
    public private(set) var bytes = 0

    public init() {}

    /// The number of clients that hold anything.
    public var count: Int { holdings.count }

    /// Adds a connection.
    /// - Parameter client: nil while unknown, because a balancer has yet to name it.
    mutating func admit(_ client: ClientIdentity?, _ limits: Limits) -> Refusal? {
        guard connections < limits.connections else { return .all }
        if let client {
            guard holdings[client, default: Holding()].connections < limits.perClient else { return .client }
            holdings[client, default: Holding()].connections += 1
        }
        connections += 1
        return nil
    }

    /// Moves a connection and its holdings to another client. False, without a change, when that
    /// client has its full share.
    mutating func move(
        from old: ClientIdentity?, to new: ClientIdentity, bytes: Int, streams: Int, _ limits: Limits
    ) -> Bool {
        guard holdings[new, default: Holding()].connections < limits.perClient else { return false }
        if let old { change(old, connections: -1, bytes: -bytes, streams: -streams) }
        change(new, connections: 1, bytes: bytes, streams: streams)
        return true
    }

    /// Reserves room for more concurrent exchanges; the client may have `limit` in all.
    mutating func begin(_ streams: Int, for client: ClientIdentity, _ limit: Int) -> Bool {
        guard streams <= limit - holdings[client, default: Holding()].streams else { return false }
        change(client, streams: streams)
        return true
    }

    mutating func end(_ streams: Int, of client: ClientIdentity) { change(client, streams: -streams) }

    /// Reserves room for bytes: one client may hold half of the total.
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

    /// Removes a connection that has ended.
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

/// The shares of all loops. Called when a connection opens, closes or changes its client, for bodies that are not small,
/// and when a connection begins to multiplex; never for a plain request.
public protocol ShareStore: AnyObject, Sendable {
    func change<Result>(_ body: (inout ClientShares) -> Result) -> Result
}
