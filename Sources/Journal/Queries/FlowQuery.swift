/// One look through the flows that are kept, a page of them at a time: in memory, and where flows are on the disk, there.
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

    /// Flows that are looked at between two looks at the clock: in memory, and on the disk, where each is unpacked.
    private static let stride = 512
    private static let diskStride = 16

    /// - Parameter isOver: whether enough time was spent on this page.
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
        // the last call said whether there was more
        if isEnd { page.next = nil }
        return page
    }

    // MARK: on the disk

    /// Where a page that memory does not end has to be looked for on the disk.
    public enum Rest: Sendable {
        /// Behind what memory has.
        case older(FlowQuery, behind: Page)
        /// Before what memory has, whose first flow that is.
        case newer(FlowQuery, until: Int)
    }

    /// - Parameter page: what memory has; nil to ask before looking.
    /// - Returns: nil where memory has the whole page.
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
        // memory has what follows
        if page.next == nil, end != .max { page.next = end - 1 }
        return page
    }
}

extension FlowQuery.Rest {
    /// The page with what the disk has of it.
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
