public import Interception
public import Journal
public import Names
public import ProxyCore

/// The settings of a worker. They are posted to each loop as a whole; connections keep the engine that their exchange started
/// with.
public struct WorkerSettings: Sendable {
    public var engine: Engine
    public var clients: ClientPolicy
    public var destinations: DestinationPolicy
    public var tls: TLSMaterial
    /// The settings of name resolution.
    public var names = NameService.Settings()
    /// The limit of idle connections on one loop.
    public var idleTotal = 1024
    /// The journal; nil if there is none.
    public var journal: (any FlowIntake)?
    /// How long a drain waits for exchanges and tunnels before it cuts them off, in milliseconds.
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

/// Receives the record of each exchange on the loop's thread. Each loop has its own.
public protocol Recorder: AnyObject {
    func record(_ record: borrowing ExchangeRecord)
    /// Applies new settings.
    func adopt(_ settings: WorkerSettings)
    /// Reports a general warning for the operator.
    func warn(_ text: String)
    /// Called a few times a second and before the loop ends.
    func flush()
}

extension Recorder {
    public func adopt(_ settings: WorkerSettings) {}
}
