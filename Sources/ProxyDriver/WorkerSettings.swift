import EventLoop
public import Interception
public import Journal
public import Names
public import ProxyCore

/// What a worker acts by. Posted whole to each loop; connections keep the engine that their exchange began with.
public struct WorkerSettings: Sendable {
    public var engine: Engine
    public var clients: ClientPolicy
    public var destinations: DestinationPolicy
    public var tls: TLSMaterial
    /// Whom names are asked of.
    public var names = NameService.Settings()
    /// Idle connections kept on one loop in all.
    public var idleTotal = 1024
    /// Who keeps what went through; nil where nobody does.
    public var journal: (any FlowIntake)?
    /// How long a drain waits for exchanges and tunnels under way, in milliseconds; then they are cut off.
    public var drainLimit: Int

    public init(
        engine: Engine, clients: ClientPolicy, destinations: DestinationPolicy, tls: TLSMaterial
    ) {
        self.engine = engine
        self.clients = clients
        self.destinations = destinations
        self.tls = tls
        drainLimit = engine.settings.timeouts.drain
    }
}

/// Takes the record of every exchange, on the loop's thread. One for each loop.
public protocol Recorder: AnyObject {
    func record(_ record: borrowing ExchangeRecord)
    /// The loop begins, or goes on, by these settings.
    func adopt(_ settings: WorkerSettings)
    /// Something that concerns no single exchange, in words for the operator.
    func warn(_ text: String)
    /// Called a few times a second, and before the loop ends.
    func flush()
}

extension Recorder {
    public func adopt(_ settings: WorkerSettings) {}
}
