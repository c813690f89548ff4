/// All journeys of the flows that are kept, made when somebody asks.
public struct JourneyBook: Sendable {
    /// In the order in which they began.
    public let journeys: [Journey]
    private let places: [UInt64: Int]
    private let ring: FlowRing

    public init(_ ring: FlowRing) {
        var traces: [JourneyTrace] = []
        var refused: Set<Int> = []
        ring.oldestFirst { flow in
            if flow.flags.contains(.notApproved) { refused.insert(flow[.id]) }
            // of a call that was sent again, the whole tells how it went
            guard !flow.isEmpty(.action), !flow.flags.contains(.attempt) else { return true }
            if let trace = JourneyTrace(flow) { traces.append(trace) }
            return true
        }
        // flows are kept in the order in which they ended, and by several loops
        traces.sort { ($0.flow[.began], $0.flow[.sequence]) < ($1.flow[.began], $1.flow[.sequence]) }
        var stitcher = JourneyStitcher()
        for trace in traces { stitcher.take(trace) }
        stitcher.refuse(refused)
        if stitcher.knowsAny {
            ring.oldestFirst { flow in
                // Usher's own calls are told by what they are for
                guard flow[.parent] == 0, flow[.scheme] != 0 else { return true }
                if flow.isEmpty(.action) || stitcher.places[flow.id] == nil { stitcher.look(flow) }
                return true
            }
        }
        journeys = stitcher.journeys
        places = stitcher.places
        self.ring = ring
    }

    /// Flows have made room for others: what a journey lacks may have been among them.
    public var hasLost: Bool { ring.dropped > 0 }

    /// The flow that a journey was run for, where it is kept.
    public func parent(of journey: Journey) -> PackedFlow? { journey.parent.flatMap { ring[id: $0.number] } }

    // MARK: one

    public enum Finding: Sendable {
        case one(Journey)
        /// There is such a flow, and it belongs to none.
        case other(FlowID)
        case several([FlowID])
        /// The newest that there are.
        case none(newest: [FlowID])
    }

    private static let named = 5

    /// A journey by its id, its beginning or its end, or by any of its calls.
    public func find(_ text: String) -> Finding {
        let part = text.lowercased()
        if let id = FlowID(part), let place = places[id.number] { return .one(journeys[place]) }
        var found: [Journey] = []
        if FlowID.isPart(part) {
            for journey in journeys.reversed() where journey.id.isNamed(part) {
                found.append(journey)
                if found.count == Self.named { break }
            }
        }
        if found.count > 1 { return .several(found.map(\.id)) }
        if let journey = found.first { return .one(journey) }
        switch ring.find(text) {
        case .one(let flow): return places[flow.id].map { .one(journeys[$0]) } ?? .other(FlowID(flow.id))
        case .several(let ids): return .several(ids)
        case .none: return .none(newest: journeys.suffix(Self.named).reversed().map(\.id))
        }
    }

    // MARK: many

    /// Some of them, the newest first.
    public struct Page: Sendable {
        public var journeys: [Journey] = []
        /// What `before` goes on by; nil where all have been looked at.
        public var next: Int?
    }

    /// - Parameters:
    ///   - sequence: those alone whose first flow came before that one.
    ///   - now: milliseconds since 1970.
    public func page(_ filter: JourneyFilter, before sequence: Int, limit: Int, now: Int) -> Page {
        var page = Page()
        let sequences = journeys.map { $0.first[.sequence] }
        let order = journeys.indices.sorted { sequences[$0] > sequences[$1] }
        for index in order where sequences[index] < sequence && filter.accepts(journeys[index], now: now) {
            guard page.journeys.count < limit else {
                page.next = page.journeys.last?.first[.sequence]
                break
            }
            page.journeys.append(journeys[index])
        }
        return page
    }
}
