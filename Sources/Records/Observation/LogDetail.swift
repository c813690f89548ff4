internal import Synchronization

/// The log level of all loops. Any thread may change it at any time.
public final class LogDetail: Sendable {
    private let value: Atomic<UInt8>

    public init(_ detail: AccessLog.Detail) { value = Atomic(detail.rawValue) }

    public var current: AccessLog.Detail {
        get { AccessLog.Detail(rawValue: value.load(ordering: .relaxed)) ?? .exchanges }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
