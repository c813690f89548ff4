/// A search through the stored flows, page by page, in memory and then on the disk if flows are stored there.
public struct FlowQuery: Sendable {
    public enum Order: Sendable {
        /// Newest first, only flows before this sequence.
        case newestFirst(before: Int)
        /// Oldest first, only flows after this sequence.
        case oldestFirst(after: Int)
    }

    public var filter: FlowFilter
    public var order: Order
    public var limit: Int

    /// The result of one page.
    public struct Page: Sendable {
        public var flows: [PackedFlow] = []
        /// The sequence to continue from; nil at the end.
        public var next: Int?
    }

    public init(_ filter: FlowFilter, _ order: Order = .newestFirst(before: .max), limit: Int) {
        self.filter = filter
        self.order = order
        self.limit = limit
    }

    /// The count of flows between two checks of the time: in memory, and on the disk, where each flow is unpacked.
    private static let stride = 512
    private static let diskStride = 16

    /// - Parameter isOver: returns true once the page has used its time.
    public func run(_ ring: FlowRing, isOver: @escaping () -> Bool = { false }) -> Page {
        look(Self.stride, isOver) { take in
            switch order {
            case .newestFirst(let sequence): ring.newestFirst(before: sequence, take)
            case .oldestFirst(let sequence): ring.oldestFirst(after: sequence, take)
            }
        }
    }

    private func look(
        _ stride: Int, _ isOver: @escaping () -> Bool, _ visit: ((PackedFlow) -> Bool) throws -> Void
    ) rethrows -> Page {
        var page = Page()
        page.next =
            switch order {
            case .newestFirst(let sequence), .oldestFirst(let sequence): sequence
            }
        var looked = 0
        var isEnd = true
        try visit { flow in
            isEnd = false
            guard page.flows.count < limit else { return false }
            if looked > 0, looked % stride == 0, isOver() { return false }
            looked += 1
            page.next = flow[.sequence]
            if filter.accepts(flow) { page.flows.append(flow) }
            isEnd = true
            return true
        }
        // the last call tells whether there is more
        if isEnd { page.next = nil }
        return page
    }

    // MARK: on the disk

    /// The part of a page that has to be read from the disk.
    public enum Rest: Sendable {
        /// After the page from memory.
        case older(FlowQuery, behind: Page)
        /// Before the flows in memory, the first of which has this sequence.
        case newer(FlowQuery, until: Int)
    }

    /// - Parameter page: the page from memory; nil to ask before the search.
    /// - Returns: nil if memory has the whole page.
    public func rest(behind page: Page?, in ring: FlowRing) -> Rest? {
        switch order {
        case .newestFirst(let sequence):
            guard let page, page.next == nil else { return nil }
            let before = min(sequence, ring.oldest ?? .max)
            return .older(
                FlowQuery(filter, .newestFirst(before: before), limit: limit - page.flows.count), behind: page)
        case .oldestFirst(let sequence):
            let oldest = ring.oldest ?? .max
            return sequence < oldest - 1 ? .newer(self, until: oldest) : nil
        }
    }

    fileprivate func run(_ shelf: any FlowShelf, until end: Int = .max, isOver: @escaping () -> Bool) throws -> Page {
        var page = try look(Self.diskStride, isOver) { take in
            switch order {
            case .newestFirst(let sequence): try shelf.newestFirst(before: sequence, take)
            case .oldestFirst(let sequence):
                try shelf.oldestFirst(after: sequence) { flow in
                    flow[.sequence] < end && take(flow)
                }
            }
        }
        // memory continues from there
        if page.next == nil, end != .max { page.next = end - 1 }
        return page
    }
}

extension FlowQuery.Rest {
    /// The page completed from the disk.
    public func run(_ shelf: any FlowShelf, isOver: @escaping () -> Bool) throws -> FlowQuery.Page {
        switch self {
        case .older(let query, let page):
            var rest = try query.run(shelf, isOver: isOver)
            rest.flows = page.flows + rest.flows
            return rest
        case .newer(let query, let end): return try query.run(shelf, until: end, isOver: isOver)
        }
    }
}
