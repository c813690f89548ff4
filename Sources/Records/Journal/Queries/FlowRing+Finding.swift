extension FlowRing {
    public enum Finding: Sendable {
        case none
        case one(PackedFlow)
        /// The text matches several ids; these are the newest.
        case several([FlowID])
    }

    private static let named = 5

    /// Finds a flow by its id, or by the start or end of the id.
    public func find(_ text: String) -> Finding {
        guard FlowID.isPart(text) else { return .none }
        if let id = FlowID(text), let flow = self[id: id.number] { return .one(flow) }
        let part = text.lowercased()
        var found: [PackedFlow] = []
        newestFirst { flow in
            if FlowID(flow.id).isNamed(part) { found.append(flow) }
            return found.count < Self.named
        }
        guard let first = found.first else { return .none }
        return found.count == 1 ? .one(first) : .several(found.map { FlowID($0.id) })
    }

    /// Usher's calls by the flows that caused them, oldest first.
    public var calls: [Int: [PackedFlow]] {
        var calls: [Int: [PackedFlow]] = [:]
        oldestFirst { call in
            if call[.parent] != 0 { calls[call[.parent], default: []].append(call) }
            return true
        }
        return calls
    }
}
