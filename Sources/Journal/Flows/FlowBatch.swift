public import Interception

/// Flows of one loop, on their way to the journal's thread: as they were, their secrets in them.
public struct FlowBatch: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// What happened in those flows in which anything did; their sentences are made where the journal is kept.
    public private(set) var events: [[ExchangeRecord.Event]] = []

    public init() {}

    public var isEmpty: Bool { bytes.isEmpty }

    /// - Parameters:
    ///   - events: what happened.
    ///   - write: sets numbers and parts.
    public mutating func add(_ events: [ExchangeRecord.Event], _ write: (inout FlowPacker) -> Void) {
        var packer = FlowPacker(behind: take())
        if !events.isEmpty {
            self.events.append(events)
            packer.set(.events, self.events.count)
        }
        write(&packer)
        bytes = packer.finish()
    }

    private mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    /// The whole, which begins anew empty.
    public mutating func handOver() -> FlowBatch {
        defer { self = FlowBatch() }
        return self
    }

    /// Each flow with what happened in it, in order.
    public func forEach(_ body: (PackedFlow, [ExchangeRecord.Event]) -> Void) {
        var place = 0
        while let flow = PackedFlow(bytes, at: place) {
            let index = flow[.events] - 1
            body(flow, events.indices.contains(index) ? events[index] : [])
            place += flow.count
        }
    }
}
