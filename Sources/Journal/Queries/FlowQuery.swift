/// One look through the flows that are kept, a page of them at a time.
public struct FlowQuery: Sendable {
    public enum Order: Sendable {
        /// The newest first; those alone that came before that one.
        case newestFirst(before: Int)
        /// The oldest first; those alone that came after that one.
        case oldestFirst(after: Int)
    }

    public var filter: FlowFilter
    public var order: Order
    public var limit: Int

    /// What was found.
    public struct Page: Sendable {
        public var flows: [PackedFlow] = []
        /// Where the next page goes on; nil where all have been looked at.
        public var next: Int?
    }

    public init(_ filter: FlowFilter, _ order: Order = .newestFirst(before: .max), limit: Int) {
        self.filter = filter
        self.order = order
        self.limit = limit
    }

    /// Flows that are looked at between two looks at the clock.
    private static let stride = 512

    /// - Parameter isOver: whether enough time was spent on this page.
    public func run(_ ring: borrowing FlowRing, isOver: () -> Bool = { false }) -> Page {
        var page = Page()
        var looked = 0
        func look(_ flow: PackedFlow) -> Bool {
            guard page.flows.count < limit else { return false }
            if looked > 0, looked % Self.stride == 0, isOver() { return false }
            looked += 1
            page.next = flow[.sequence]
            if filter.accepts(flow) { page.flows.append(flow) }
            return true
        }
        var wasEnded = true
        func take(_ flow: PackedFlow) -> Bool {
            wasEnded = look(flow)
            return wasEnded
        }
        switch order {
        case .newestFirst(let sequence): ring.newestFirst(before: sequence, take)
        case .oldestFirst(let sequence): ring.oldestFirst(after: sequence, take)
        }
        // the last call said whether there was more
        if wasEnded { page.next = nil }
        return page
    }
}
