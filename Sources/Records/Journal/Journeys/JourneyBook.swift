/// All journeys of the stored flows, built on request.
public struct JourneyBook: Sendable {
    /// The journeys in the order of their beginnings.
    public let journeys: [Journey]
    private let places: [UInt64: Int]
    private let ring: FlowRing

    public init(_ ring: FlowRing) {
        var traces: [JourneyTrace] = []
        var refused: Set<Int> = []
        ring.oldestFirst { flow in
            if flow.flags.contains(.notApproved) { refused.insert(flow[.id]) }
            // for a call that was sent again, only the whole flow counts
            guard !flow.isEmpty(.action), !flow.flags.contains(.attempt) else { return true }
            if let trace = JourneyTrace(flow) { traces.append(trace) }
            return true
        }
        // flows are stored by their ends, and by several loops
        traces.sort { ($0.flow[.began], $0.flow[.sequence]) < ($1.flow[.began], $1.flow[.sequence]) }
        var stitcher = JourneyStitcher()
        for trace in traces { stitcher.take(trace) }
        stitcher.refuse(refused)
        if stitcher.knowsAny {
            ring.oldestFirst { flow in
                // calls by Usher appear with the journey or flow that they serve
                guard flow[.parent] == 0, flow[.scheme] != 0 else { return true }
                if flow.isEmpty(.action) || stitcher.places[flow.id] == nil { stitcher.look(flow) }
                return true
            }
        }
        journeys = stitcher.journeys
        places = stitcher.places
        self.ring = ring
    }

    /// True if flows were dropped, so that journeys may lack some.
    public var hasLost: Bool { ring.dropped > 0 }

    /// The flow that a journey was run for, if it is stored.
    public func parent(of journey: Journey) -> PackedFlow? { journey.parent.flatMap { ring[id: $0.number] } }

    // MARK: a single journey

    public enum Finding: Sendable {
        case one(Journey)
        /// The flow exists but belongs to no journey.
        case other(FlowID)
        case several([FlowID])
        /// No match; the newest ids.
        case none(newest: [FlowID])
    }

    private static let named = 5

    /// Finds a journey by its id, the start or end of the id, or one of its calls.
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

    // MARK: pages

    /// A page of journeys, newest first.
    public struct Page: Sendable {
        public var journeys: [Journey] = []
        /// The value of `before` for the next page; nil at the end.
        public var next: Int?
    }

    /// - Parameters:
    /// - sequence: only journeys whose first flow came before this one.
    /// - now: milliseconds since 1970.
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
