internal import EventLoop
public import Interception
public import ProxyCore

/// What a worker acts by. Posted whole to each loop; connections keep the engine that their exchange began with.
public struct WorkerSettings: Sendable {
    public var engine: Engine
    public var clients: ClientPolicy
    public var destinations: DestinationPolicy
    /// Client connections on one loop.
    public var maxConnections: Int
    /// Idle connections kept for one origin on one loop.
    public var idlePerOrigin = 64

    public init(engine: Engine, clients: ClientPolicy, destinations: DestinationPolicy, maxConnections: Int) {
        self.engine = engine
        self.clients = clients
        self.destinations = destinations
        self.maxConnections = maxConnections
    }
}

/// Takes the record of every exchange, on the loop's thread. One for each loop.
public protocol Recorder: AnyObject {
    func record(_ record: borrowing ExchangeRecord)
    /// Called a few times a second, and before the loop ends.
    func flush()
}
