import Journal

/// Flows of all loops that wait for the journal's thread, within a bound, and each client's within its share.
struct FlowBacklog {
    private(set) var batches: [FlowBatch] = []
    /// Those that did not fit in.
    private(set) var lost = 0
    private var bytes = 0
    /// How much of it is each client's; nil as long as there is room for all.
    private var shares: FlowShares?
    private let limit: Int

    /// - Parameter limit: bytes.
    init(limit: Int = 16 << 20) { self.limit = limit }

    var isEmpty: Bool { batches.isEmpty }

    mutating func add(_ batch: FlowBatch) {
        if FlowShares.hasRoomForAll(bytes + batch.bytes.count, of: limit) { return append(batch) }
        var shares =
            self.shares
            ?? FlowShares(limit: limit) { count in
                for batch in batches { batch.forEach { flow, _ in count(flow) } }
            }
        var room = limit - bytes
        let left = batch.filter { flow in
            let isTaken = shares.take(flow, &room)
            if !isTaken { lost += 1 }
            return isTaken
        }
        self.shares = shares
        if !left.isEmpty { append(left) }
    }

    private mutating func append(_ batch: FlowBatch) {
        batches.append(batch)
        bytes += batch.bytes.count
    }

    /// Somebody has taken them.
    mutating func clear() {
        batches = []
        bytes = 0
        shares = nil
    }
}
