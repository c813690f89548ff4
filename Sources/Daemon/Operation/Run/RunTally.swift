import EventLoop
public import Interception
import ProxyDriver

/// Counts of the traffic through a command's proxy.
public struct RunTally: Equatable, Sendable {
    /// Decrypted tunnels are not counted; the requests inside are.
    public private(set) var requests = 0
    public private(set) var tunnels = 0
    public private(set) var stepUps = 0
    public private(set) var failedStepUps = 0
    /// Requests without a response of an origin.
    public private(set) var faults = 0

    public init() {}

    public var isEmpty: Bool { requests == 0 && tunnels == 0 && faults == 0 }

    public mutating func take(_ record: borrowing ExchangeRecord) {
        var isOpened = false
        var wasReplayed: Bool?
        for event in record.events {
            switch event.value {
            case .opened: isOpened = true
            case .call, .parked: wasReplayed = wasReplayed ?? false
            case .replayed: wasReplayed = true
            case .stepUpFailed, .notReplayed, .notApproved, .heldOff, .abandoned: wasReplayed = false
            default: break
            }
        }
        if record.method != Array("CONNECT".utf8) {
            requests += 1
        } else if !isOpened {
            tunnels += 1
        }
        if let wasReplayed {
            stepUps += 1
            if !wasReplayed { failedStepUps += 1 }
        }
        if record.proxyError != nil { faults += 1 }
    }

    /// As in `214 requests, 31 step-ups (1 failed), 2 faults`.
    public var words: String {
        func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        var parts = [counted(requests, "request")]
        if tunnels > 0 { parts.append(counted(tunnels, "unopened tunnel")) }
        if stepUps > 0 {
            parts.append(counted(stepUps, "step-up") + (failedStepUps > 0 ? " (\(failedStepUps) failed)" : ""))
        }
        if faults > 0 { parts.append(counted(faults, "fault")) }
        return parts.joined(separator: ", ")
    }
}

/// Counts on its loop's thread, and publishes the counts at intervals.
final class TallyRecorder: Recorder {
    private let next: any Recorder
    private let shared: Locked<RunTally>
    private var tally = RunTally()

    init(_ next: any Recorder, _ shared: Locked<RunTally>) {
        self.next = next
        self.shared = shared
    }

    func record(_ record: borrowing ExchangeRecord) {
        tally.take(record)
        next.record(record)
    }

    func adopt(_ settings: WorkerSettings) { next.adopt(settings) }
    func warn(_ text: String) { next.warn(text) }

    func flush() {
        next.flush()
        shared.withLock { [tally] in $0 = tally }
    }
}
