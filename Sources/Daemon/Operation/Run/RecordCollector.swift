internal import EventLoop
public import Interception
public import ProxyDriver

/// Collects the records of a proxy that serves one command.
public final class RecordCollector: Sendable {
    private let records = Locked<[ExchangeRecord]>([])
    /// Bounds the memory of long-running programs.
    private static let limit = 10_000

    public init() {}

    public var all: [ExchangeRecord] { records.withLock { $0 } }

    /// The recorder for the proxy's worker.
    public var recorder: @Sendable () -> any Recorder {
        { [self] in Writer(collector: self) }
    }

    fileprivate func take(_ record: borrowing ExchangeRecord) {
        let copy = copy record
        records.withLock { if $0.count < Self.limit { $0.append(copy) } }
    }

    /// The recorder of one worker.
    private final class Writer: Recorder {
        private let collector: RecordCollector

        init(collector: RecordCollector) { self.collector = collector }

        func record(_ record: borrowing ExchangeRecord) { collector.take(record) }
        func warn(_ text: String) {}
        func flush() {}
    }
}
