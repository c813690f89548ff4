internal import Synchronization

/// How much the logs of all loops tell. May be changed while they write, from any thread.
public final class LogDetail: Sendable {
    private let value: Atomic<UInt8>

    public init(_ detail: AccessLog.Detail) { value = Atomic(detail.rawValue) }

    public var current: AccessLog.Detail {
        get { AccessLog.Detail(rawValue: value.load(ordering: .relaxed)) ?? .exchanges }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
