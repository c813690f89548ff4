import EventLoop
import Interception
import ProxyCore
import TLSEngine
import Testing

@testable import ProxyDriver

/// A worker on a thread of its own, on a port of its own.
final class TestProxy: Sendable {
    let port: UInt16
    private let settings: WorkerSettings
    private let messages: Mailbox<WorkerMessage>
    private let thread: SystemThread
    private let log: Locked<Log>

    private struct Log {
        var statuses: [Int] = []
        var hasEnded = false
    }

    private final class Recording: Recorder {
        let log: Locked<Log>
        init(_ log: Locked<Log>) { self.log = log }
        func record(_ record: borrowing ExchangeRecord) {
            let status = record.status
            log.signal { $0.statuses.append(status) }
        }
        func warn(_ text: String) {}
        func flush() {}
    }

    /// - Parameter prepare: called on the worker's thread before it runs.
    init(
        _ change: (inout WorkerSettings, inout Settings) -> Void = { _, _ in },
        prepare: @escaping @Sendable (Worker) -> Void = { _ in }
    ) throws {
        let socket = try ListeningSocket(SocketAddress(address: [127, 0, 0, 1], port: 0))
        let address = socket.address
        port = address.port
        var core = Settings()
        core.timeouts.idle = 5_000
        core.timeouts.connect = 2_000
        core.timeouts.response = 5_000
        var settings = WorkerSettings(
            engine: Engine(core), clients: ClientPolicy(), destinations: DestinationPolicy(),
            tls: try TestProxy.material())
        change(&settings, &core)
        settings.engine = Engine(core)
        self.settings = settings
        let messages = try Mailbox<WorkerMessage>()
        self.messages = messages
        let log = Locked(Log())
        self.log = log
        let start = WorkerStart(
            number: 0, settings: settings, tables: SharedTables(),
            listeners: [WorkerListener(descriptor: socket.take().release(), isSecure: false)], addresses: [address],
            messages: messages)
        thread = try SystemThread(name: "proxy") {
            do throws(SystemError) {
                let worker = try Worker(start, recorder: Recording(log))
                prepare(worker)
                worker.run()
            } catch {
                Issue.record("the worker did not start: \(error)")
            }
            log.signal { $0.hasEnded = true }
        }
    }

    /// Trusts nobody and opens nothing.
    static func material() throws -> TLSMaterial {
        TLSMaterial(
            origins: try OriginContext(
                usesSystemTrust: false, extraTrust: [], revocationLists: [], minimum: .tls12),
            security: OriginSecurity(), ticketSeed: try SecretBytes(random: 32))
    }

    func client() throws -> Wire { try Wire(port: port) }

    /// The same configuration as another generation, or another one.
    func adopt(_ change: (inout WorkerSettings) -> Void = { _ in }) {
        var settings = settings
        change(&settings)
        messages.post(.adopt(settings))
    }

    func drain() { messages.post(.drain(0)) }
    func stop() { messages.post(.stop) }

    /// Waits until the worker has ended; for ten seconds at most.
    func join() {
        guard log.wait(milliseconds: 10_000, { $0.hasEnded ? true : nil }) != nil else {
            Issue.record("the worker did not end")
            return
        }
        thread.join()
    }

    func close() {
        stop()
        join()
    }

    var hasEnded: Bool { log.withLock { $0.hasEnded } }

    /// Waits until so many exchanges are recorded, for ten seconds at most.
    func statuses(_ count: Int) -> [Int] {
        log.wait(milliseconds: 10_000) { $0.statuses.count >= count ? $0.statuses : nil }
            ?? log.withLock { $0.statuses }
    }
}
