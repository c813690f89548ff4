import EventLoop
import Glibc
import Interception
import Testing

@testable import ProxyCore
@testable import ProxyDriver

/// A worker that listens nowhere, and whose loop turns only as the test has it.
struct TurnedWorker {
    let worker: Worker
    private let settings: WorkerSettings
    private let core: Settings
    private let messages: Mailbox<WorkerMessage>
    private let recorder = Recording()

    private final class Recording: Recorder {
        var limits: [Int] = []
        func record(_ record: borrowing ExchangeRecord) {}
        func adopt(_ settings: WorkerSettings) { limits.append(settings.drainLimit) }
        func warn(_ text: String) {}
        func flush() {}
    }

    init(_ change: (inout WorkerSettings, inout Settings) -> Void = { _, _ in }) throws {
        var core = Settings()
        var settings = WorkerSettings(
            engine: Engine(core), clients: ClientPolicy(), destinations: DestinationPolicy(),
            tls: try TestProxy.material())
        change(&settings, &core)
        settings.engine = Engine(core)
        (self.settings, self.core) = (settings, core)
        messages = try Mailbox<WorkerMessage>()
        let start = WorkerStart(
            number: 0, settings: settings, tables: SharedTables(), listeners: [], addresses: [], messages: messages)
        worker = try Worker(start, recorder: recorder)
    }

    var pool: OriginPool { worker.origins.pool }
    /// The `drainLimit` of each generation that the log was told of.
    var limits: [Int] { recorder.limits }

    /// Another generation of the configuration.
    func adopt(_ change: (inout WorkerSettings, inout Settings) -> Void) {
        var (settings, core) = (settings, core)
        change(&settings, &core)
        settings.engine = Engine(core)
        messages.post(.adopt(settings))
        worker.loop.turn()
    }

    /// Whoever wants a stream for an exchange that its connection knows nothing of.
    func request(_ exchange: UInt32, _ scope: LeaseScope = .any, asksPresence: Bool = false) -> LeaseRequest {
        LeaseRequest(
            connection: worker.connectToNobody(), exchange: ExchangeID(exchange), scope: scope, version: .any,
            asksPresence: asksPresence)
    }

    /// A connection to an origin, and the other end of it.
    func channel(_ origin: Origin) throws -> (OriginChannel, Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let channel = try OriginChannel(
            loop: worker.loop, security: worker.security, origin: origin, descriptor: Descriptor(owning: ends[0]),
            connecting: false)
        return (channel, ends[1])
    }

    /// Lets go of everything.
    func end() {
        messages.post(.stop)
        worker.run()
    }
}
