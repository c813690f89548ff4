public import Journal

extension FlowRing.Finding {
    /// The flow with this id, or the problem to report.
    public func flow(_ id: String) throws(ControlProblem) -> PackedFlow {
        switch self {
        case .one(let flow): return flow
        case .none: throw ControlProblem(404, "there is no flow \(id.prefix(40))")
        case .several(let ids):
            let some = ids.map(\.description).joined(separator: ", ")
            throw ControlProblem(409, "\(id) matches several flows, such as \(some)")
        }
    }
}

/// Usher's calls for a flow, from memory and the disk.
struct FlowFamily {
    /// By the id of the flow that caused them.
    private(set) var calls: [Int: [PackedFlow]]

    /// The depth of nested calls.
    private static let depth = 3

    /// - Parameter calls: the calls in memory.
    init(_ calls: [Int: [PackedFlow]]) { self.calls = calls }

    mutating func add(callsOf flow: PackedFlow, on shelf: any FlowShelf) throws {
        var parents = [flow[.id]]
        for _ in 0..<Self.depth {
            var next: [Int] = []
            for parent in parents {
                var all = calls[parent] ?? []
                let known = Set(all.map { $0[.sequence] })
                all += try shelf.calls(of: parent).filter { !known.contains($0[.sequence]) }
                calls[parent] = all.sorted { $0[.sequence] < $1[.sequence] }
                next += all.map { $0[.id] }
            }
            parents = next
        }
    }
}
