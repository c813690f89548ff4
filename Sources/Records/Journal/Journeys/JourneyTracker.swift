/// Says which journey a flow belongs to, flow by flow.
public struct JourneyTracker: Sendable {
    private var stitcher = JourneyStitcher()

    /// The limit of journeys. Later ones are not told apart.
    private static let most = 1024

    public init() {}

    /// - Parameter flow: the next one that ended.
    /// - Returns: a number for the journey; nil if the flow belongs to none.
    public mutating func journey(of flow: PackedFlow) -> Int? {
        if let trace = flow.isEmpty(.action) ? nil : JourneyTrace(flow) {
            guard stitcher.journeys.count < Self.most else { return nil }
            stitcher.take(trace)
            return stitcher.places[flow.id]
        }
        return flow[.scheme] == 0 ? nil : stitcher.user(of: flow)
    }
}
