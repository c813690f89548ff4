public import Interception

/// Flows of one loop, on their way to the journal's thread: as they were, their secrets in them.
public struct FlowBatch: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// What happened in those flows in which anything did; their sentences are made where the journal is kept.
    public private(set) var events: [[ExchangeRecord.Event]] = []

    /// How much room the batch before this one took.
    private var expected = 0
    /// Where those are that have not been taken out.
    private var place = 0

    public init() {}

    public var isEmpty: Bool { bytes.isEmpty }

    /// Begins a flow behind the others, in which that happened. `end` has to follow.
    public mutating func begin(_ events: [ExchangeRecord.Event]) -> FlowPacker {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        // it is handed over at about the same size, and a little more would have it copied whole
        if taken.isEmpty { taken.reserveCapacity(expected + expected / 8) }
        var packer = FlowPacker(behind: consume taken)
        if !events.isEmpty {
            self.events.append(events)
            packer.set(.events, self.events.count)
        }
        return packer
    }

    public mutating func end(_ packer: consuming FlowPacker) { bytes = packer.finish() }

    /// The whole, which begins anew empty.
    public mutating func handOver() -> FlowBatch {
        let batch = self
        self = FlowBatch()
        expected = batch.bytes.count
        return batch
    }

    /// The flows among these that are meant.
    public func filter(_ isMeant: (PackedFlow) -> Bool) -> FlowBatch {
        var left = FlowBatch()
        // flows name what happened in them by where it stands
        left.events = events
        forEach { flow, _ in if isMeant(flow) { left.bytes += flow.packed } }
        return left
    }

    /// Each flow that is left with what happened in it, in order.
    public func forEach(_ body: (PackedFlow, [ExchangeRecord.Event]) -> Void) {
        var rest = self
        while let (flow, events) = rest.next() { body(flow, events) }
    }

    /// Takes the next flow out.
    mutating func next() -> (flow: PackedFlow, events: [ExchangeRecord.Event])? {
        guard let flow = PackedFlow(bytes, at: place) else { return nil }
        place += flow.count
        let index = flow[.events] - 1
        return (flow, events.indices.contains(index) ? events[index] : [])
    }

    /// Bytes of those that are left.
    public var left: Int { bytes.count - place }
}
