/// The flows that are kept, within a budget of bytes: the oldest make room for the newest.
public struct FlowRing: Sendable {
    /// In the order of their sequence; those before `first` are gone.
    private var flows: [PackedFlow?] = []
    private var first = 0
    /// What was there before `flows[0]`.
    private var forgotten = 0
    private var refused = 0
    public private(set) var bytes = 0
    public private(set) var budget: Int

    /// What a flow takes beside its own bytes.
    static let overhead = 96

    public init(budget: Int) { self.budget = budget }

    public var count: Int { flows.count - first }

    /// How many there have been that are no more.
    public var dropped: Int { forgotten + first + refused }

    /// One that takes more than the whole budget is not kept.
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

    /// The sequence of the oldest that is there.
    public var oldest: Int? { first < flows.count ? flows[first]?[.sequence] : nil }

    /// Looks for it: people ask for few, and a table of all would have to be kept with each that comes and goes.
    public subscript(id id: UInt64) -> PackedFlow? {
        var found: PackedFlow?
        newestFirst { flow in
            if flow.id == id { found = flow }
            return found == nil
        }
        return found
    }

    /// The newest first, for as long as `body` returns true.
    /// - Parameter sequence: those alone that came before that one.
    public func newestFirst(before sequence: Int = .max, _ body: (PackedFlow) -> Bool) {
        let end = sequence == .max ? flows.count : place(behind: sequence - 1)
        for index in stride(from: end - 1, through: first, by: -1) {
            guard let flow = flows[index], body(flow) else { return }
        }
    }

    /// The oldest first.
    /// - Parameter sequence: those alone that came after that one.
    public func oldestFirst(after sequence: Int = 0, _ body: (PackedFlow) -> Bool) {
        for index in place(behind: sequence)..<flows.count {
            guard let flow = flows[index], body(flow) else { return }
        }
    }

    /// Of the first that came after that one.
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
