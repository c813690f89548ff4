public import EventLoop
public import Metrics
internal import ProxyCore

/// What another thread may say to a worker.
enum WorkerMessage: Sendable {
    case adopt(WorkerSettings)
    /// Accept nothing more, finish what is under way, end. Connections without a request are kept for so many milliseconds
    /// more: what is on its way to them is answered, and they learn from the answer that they end.
    case drain(Int)
    /// AM is to be told of something.
    case runErrands
    case stop
}

/// Everything a worker needs to begin.
struct WorkerStart: Sendable {
    var number: Int
    var settings: WorkerSettings
    var tables: SharedTables
    var metrics = LoopMetrics()
    var listeners: [WorkerListener]
    /// Every address that this process listens on.
    var addresses: [SocketAddress]
    var messages: Mailbox<WorkerMessage>
    var pulse = LoopPulse()
    var gauge = LoadGauge()
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
    private let messages: Mailbox<WorkerMessage>
    private let thread: SystemThread
    /// Whether it turns, and what it has at hand.
    public let pulse: LoopPulse
    public let gauge: LoadGauge

    /// Starts a loop on a thread of its own.
    /// - Parameters:
    ///   - recorder: called once, on the new thread.
    ///   - ended: called on the new thread when the loop is over, with the reason when it could not begin.
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
    public func stop() { messages.post(.stop) }
    public func join() { thread.join() }
}
