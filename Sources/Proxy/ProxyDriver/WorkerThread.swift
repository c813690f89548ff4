public import EventLoop
public import Metrics

/// The messages to a worker.
enum WorkerMessage: Sendable {
    case adopt(WorkerSettings)
    /// Stop accepting, complete the running work, and end. Connections without a request are kept for this many milliseconds.
    /// Requests in flight still get their responses, which announce the close.
    case drain(Int)
    /// Run background calls to AM.
    case runBackgroundCalls
    /// Hand over the flows that have ended, and then call.
    case flush(@Sendable () -> Void)
    /// Accept clients of a test session.
    case open([WorkerListener], testSession: String)
    /// Close the listeners and idle connections of a test session.
    case close(testSession: String)
    /// Connect no client to this address, where this process listens, too.
    case refuseOrigin(SocketAddress)
    case stop
}

/// The parameters of a worker's start.
struct WorkerStart: Sendable {
    var number: Int
    var settings: WorkerSettings
    var tables: SharedTables
    var metrics = LoopMetrics()
    var listeners: [WorkerListener]
    /// All addresses that this process listens on.
    var addresses: [SocketAddress]
    var messages: Mailbox<WorkerMessage>
    var pulse = LoopPulse()
    var gauge = LoadGauge()
}

/// A listening descriptor, owned by the worker.
public struct WorkerListener: Sendable {
    public var descriptor: Int32
    /// True if clients use TLS.
    public var isSecure: Bool

    public init(descriptor: Int32, isSecure: Bool) {
        self.descriptor = descriptor
        self.isSecure = isSecure
    }
}

/// A handle of a worker's thread.
public final class WorkerThread: Sendable {
    private let messages: Mailbox<WorkerMessage>
    private let thread: SystemThread
    /// Liveness and load.
    public let pulse: LoopPulse
    public let gauge: LoadGauge

    /// Starts a loop on a new thread.
    /// - Parameters:
    /// - recorder: called once on the new thread.
    /// - ended: called on the new thread when the loop ends, with an error if it could not start.
    public init(
        number: Int, settings: WorkerSettings, tables: SharedTables, metrics: LoopMetrics = LoopMetrics(),
        listeners: [WorkerListener],
        addresses: [SocketAddress],
        recorder: @escaping @Sendable () -> any Recorder,
        ended: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) {
        let messages = try Mailbox<WorkerMessage>()
        self.messages = messages
        let start = WorkerStart(
            number: number, settings: settings, tables: tables, metrics: metrics, listeners: listeners,
            addresses: addresses, messages: messages)
        pulse = start.pulse
        gauge = start.gauge
        thread = try SystemThread(name: "worker-\(number)") {
            do throws(SystemError) {
                try Worker(start, recorder: recorder()).run()
                ended(nil)
            } catch {
                ended(error)
            }
        }
    }

    public func adopt(_ settings: WorkerSettings) { messages.post(.adopt(settings)) }
    public func drain(sparingIdleFor milliseconds: Int = 0) { messages.post(.drain(milliseconds)) }
    /// Hands the flows that have ended over to the journal, and then calls on the worker's thread. A loop that has ended handed
    /// over all flows.
    public func flush(_ done: @escaping @Sendable () -> Void) {
        if pulse.age(at: 0) == nil { done() } else { messages.post(.flush(done)) }
    }
    /// The worker owns the descriptors from here on.
    public func open(_ listeners: [WorkerListener], testSession: String) {
        messages.post(.open(listeners, testSession: testSession))
    }
    public func close(testSession: String) { messages.post(.close(testSession: testSession)) }
    public func refuseOrigin(at address: SocketAddress) { messages.post(.refuseOrigin(address)) }
    public func stop() { messages.post(.stop) }
    public func join() { thread.join() }
}
