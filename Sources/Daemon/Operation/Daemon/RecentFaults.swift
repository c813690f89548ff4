import EventLoop
import Glibc
import Interception
import ProxyDriver

/// The most recent errors, for the status.
final class RecentFaults: Sendable {
    struct Fault: Sendable {
        /// In seconds since 1970.
        var at: Int
        var text: String
    }

    private let faults = Locked<[Fault]>([])
    private static let most = 8

    /// Callable from any thread.
    func add(_ text: String) {
        faults.withLock { faults in
            faults.append(Fault(at: time(nil), text: text))
            if faults.count > Self.most { faults.removeFirst() }
        }
    }

    var all: [Fault] { faults.withLock { $0 } }
}

/// Records a loop's warnings in `RecentFaults`, and passes everything on to another recorder.
final class WarningRecorder: Recorder {
    private let next: any Recorder
    private let faults: RecentFaults

    init(_ next: any Recorder, _ faults: RecentFaults) {
        self.next = next
        self.faults = faults
    }

    func record(_ record: borrowing ExchangeRecord) { next.record(record) }
    func adopt(_ settings: WorkerSettings) { next.adopt(settings) }

    func warn(_ text: String) {
        faults.add(text)
        next.warn(text)
    }

    func flush() { next.flush() }
}
