internal import Synchronization

/// The load of one worker, readable from any thread. Its loop updates it a few times a second.
public final class LoadGauge: Sendable {
    private let open = Atomic<Int>(0)
    private let underWay = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let served = Atomic<Int>(0)

    public struct Reading: Equatable, Sendable {
        /// The open client connections.
        public var connections = 0
        /// The running exchanges.
        public var underWay = 0
        /// The accepted connections since the start.
        public var accepted = 0
        /// The completed exchanges since the start.
        public var served = 0

        public init() {}

        fileprivate init(_ connections: Int, _ underWay: Int, _ accepted: Int, _ served: Int) {
            self.connections = connections
            self.underWay = underWay
            self.accepted = accepted
            self.served = served
        }

        public static func + (one: Reading, other: Reading) -> Reading {
            Reading(
                one.connections + other.connections, one.underWay + other.underWay, one.accepted + other.accepted,
                one.served + other.served)
        }
    }

    public init() {}

    func set(_ reading: Reading) {
        open.store(reading.connections, ordering: .relaxed)
        underWay.store(reading.underWay, ordering: .relaxed)
        accepted.store(reading.accepted, ordering: .relaxed)
        served.store(reading.served, ordering: .relaxed)
    }

    public var reading: Reading {
        Reading(
            open.load(ordering: .relaxed), underWay.load(ordering: .relaxed), accepted.load(ordering: .relaxed),
            served.load(ordering: .relaxed))
    }
}
