public import Interception

/// Flows of one loop on their way to the journal's thread, unredacted.
public struct FlowBatch: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// The events of flows that have any. The journal's thread writes their sentences.
    public private(set) var events: [[ExchangeRecord.Event]] = []

    /// The size of the previous batch in bytes.
    private var expected = 0
    /// The offset of the first flow that was not taken out.
    private var place = 0

    public init() {}

    public var isEmpty: Bool { bytes.isEmpty }

    /// Begins a flow with these events after the others. `end` must follow.
    public mutating func begin(_ events: [ExchangeRecord.Event]) -> FlowPacker {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        // batches have similar sizes, and growth beyond the capacity would copy the whole batch
        if taken.isEmpty { taken.reserveCapacity(expected + expected / 8) }
        var packer = FlowPacker(behind: consume taken)
        if !events.isEmpty {
            self.events.append(events)
            packer.set(.events, self.events.count)
        }
        return packer
    }

    public mutating func end(_ packer: consuming FlowPacker) { bytes = packer.finish() }

    /// Returns the batch and starts an empty one.
    public mutating func handOver() -> FlowBatch {
        let batch = self
        self = FlowBatch()
        expected = batch.bytes.count
        return batch
    }

    /// The flows that match.
    public func filter(_ isMeant: (PackedFlow) -> Bool) -> FlowBatch {
        var left = FlowBatch()
        // flows refer to their events by index
        left.events = events
        forEach { flow, _ in if isMeant(flow) { left.bytes += flow.packed } }
        return left
    }

    /// Visits the remaining flows with their events, in order.
    public func forEach(_ body: (PackedFlow, [ExchangeRecord.Event]) -> Void) {
        var rest = self
        while let (flow, events) = rest.next() { body(flow, events) }
    }

    /// Removes and returns the next flow.
    mutating func next() -> (flow: PackedFlow, events: [ExchangeRecord.Event])? {
        guard let flow = PackedFlow(bytes, at: place) else { return nil }
        place += flow.count
        let index = flow[.events] - 1
        return (flow, events.indices.contains(index) ? events[index] : [])
    }

    /// The bytes of the remaining flows.
    public var left: Int { bytes.count - place }
}
