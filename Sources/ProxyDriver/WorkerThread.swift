public import EventLoop
internal import ProxyCore

/// What another thread may say to a worker.
enum WorkerLetter: Sendable {
    case adopt(WorkerSettings)
    /// Accept nothing more, finish what is under way, end.
    case drain
    case stop
}

/// Everything a worker needs to begin.
struct WorkerStart: Sendable {
    var number: Int
    var settings: WorkerSettings
    var flows: FlowTable
    var refusals: RefusalTable
    var clients: ClientTable
    var logins: LoginTable
    var authenticator: Authenticator
    var listeners: [WorkerListener]
    /// Every address that this process listens on.
    var addresses: [SocketAddress]
    var letters: Mailbox<WorkerLetter>
}

/// A descriptor that listens, owned by the worker from here on.
public struct WorkerListener: Sendable {
    public var descriptor: Int32
    /// Clients speak TLS to it.
    public var isSecure: Bool

    public init(descriptor: Int32, isSecure: Bool) {
        self.descriptor = descriptor
        self.isSecure = isSecure
    }
}

/// A worker's thread, seen from outside.
public final class WorkerThread: Sendable {
    private let letters: Mailbox<WorkerLetter>
    private let thread: SystemThread

    /// Starts a loop on a thread of its own.
    /// - Parameters:
    ///   - recorder: called once, on the new thread.
    ///   - ended: called on the new thread when the loop is over, with the reason when it could not begin.
    public init(
        number: Int, settings: WorkerSettings, flows: FlowTable, refusals: RefusalTable, clients: ClientTable,
        logins: LoginTable, authenticator: Authenticator, listeners: [WorkerListener], addresses: [SocketAddress],
        recorder: @escaping @Sendable () -> any Recorder,
        ended: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) {
        let letters = try Mailbox<WorkerLetter>()
        self.letters = letters
        let start = WorkerStart(
            number: number, settings: settings, flows: flows, refusals: refusals, clients: clients, logins: logins,
            authenticator: authenticator, listeners: listeners, addresses: addresses, letters: letters)
        thread = try SystemThread(name: "worker-\(number)") {
            do throws(SystemError) {
                try Worker(start, recorder: recorder()).run()
                ended(nil)
            } catch {
                ended(error)
            }
        }
    }

    public func adopt(_ settings: WorkerSettings) { letters.post(.adopt(settings)) }
    public func drain() { letters.post(.drain) }
    public func stop() { letters.post(.stop) }
    public func join() { thread.join() }
}
