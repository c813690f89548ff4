/// The stored flows within a budget of bytes. The oldest are dropped for the newest.
public struct FlowRing: Sendable {
    /// The flows by sequence. Those before `first` were dropped.
    private var flows: [PackedFlow?] = []
    private var first = 0
    /// The count of flows before `flows[0]`.
    private var forgotten = 0
    private var refused = 0
    public private(set) var bytes = 0
    public private(set) var budget: Int

    /// The memory of a flow beyond its bytes.
    static let overhead = 96

    public init(budget: Int) { self.budget = budget }

    public var count: Int { flows.count - first }

    /// The count of dropped flows.
    public var dropped: Int { forgotten + first + refused }

    /// Adds a flow. One that exceeds the whole budget is not stored.
    public mutating func append(_ flow: PackedFlow) {
        let size = flow.count + Self.overhead
        guard size <= budget else {
            refused += 1
            return
        }
        while bytes + size > budget { dropOldest() }
        flows.append(flow)
        bytes += size
    }

    public mutating func setBudget(_ budget: Int) {
        self.budget = budget
        while bytes > budget { dropOldest() }
    }

    private mutating func dropOldest() {
        guard first < flows.count, let flow = flows[first] else { return }
        bytes -= flow.count + Self.overhead
        flows[first] = nil
        first += 1
        guard first > 1024, first > flows.count / 2 else { return }
        flows.removeFirst(first)
        forgotten += first
        first = 0
    }

    /// The sequence of the oldest stored flow.
    public var oldest: Int? { first < flows.count ? flows[first]?[.sequence] : nil }

    /// Finds a flow by a linear search. Look-ups are rare, and an index would cost on each insertion.
    public subscript(id id: UInt64) -> PackedFlow? {
        var found: PackedFlow?
        newestFirst { flow in
            if flow.id == id { found = flow }
            return found == nil
        }
        return found
    }

    /// Visits the newest first while `body` returns true.
    /// - Parameter sequence: only flows before this one.
    public func newestFirst(before sequence: Int = .max, _ body: (PackedFlow) -> Bool) {
        let end = sequence == .max ? flows.count : place(behind: sequence - 1)
        for index in stride(from: end - 1, through: first, by: -1) {
            guard let flow = flows[index], body(flow) else { return }
        }
    }

    /// Visits the oldest first.
    /// - Parameter sequence: only flows after this one.
    public func oldestFirst(after sequence: Int = 0, _ body: (PackedFlow) -> Bool) {
        for index in place(behind: sequence)..<flows.count {
            guard let flow = flows[index], body(flow) else { return }
        }
    }

    /// The index of the first flow after this sequence.
    private func place(behind sequence: Int) -> Int {
        var low = first
        var high = flows.count
        while low < high {
            let middle = (low + high) / 2
            if (flows[middle]?[.sequence] ?? 0) <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
