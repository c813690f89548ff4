import Journal

/// Flows of all loops that wait for the journal's thread. Limited in total and per client.
struct FlowBacklog {
    private(set) var batches: [FlowBatch] = []
    /// The number of flows that did not fit.
    private(set) var lost = 0
    private var bytes = 0
    /// The share of each client; nil while there is room for all.
    private var shares: FlowShares?
    private let limit: Int

    /// - Parameter limit: in bytes.
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

    /// Removes the flows after they were taken.
    mutating func clear() {
        batches = []
        bytes = 0
        shares = nil
    }
}
