extension FlowRing {
    public enum Finding: Sendable {
        case none
        case one(PackedFlow)
        /// The part of an id fits several of them; the newest ones.
        case several([FlowID])
    }

    private static let named = 5

    /// The flow of an id, or of its beginning or its end.
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

    /// The calls of Usher's own by the flows that they were made for, in their order.
    public var calls: [Int: [PackedFlow]] {
        var calls: [Int: [PackedFlow]] = [:]
        oldestFirst { call in
            if call[.parent] != 0 { calls[call[.parent], default: []].append(call) }
            return true
        }
        return calls
    }
}
