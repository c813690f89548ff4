/// The route for Prometheus.
public struct MetricsRoutes {
    private let page: () -> [UInt8]

    /// The media type of Prometheus's text format.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// - Parameter page: makes the page of all metrics.
    public init(_ page: @escaping () -> [UInt8]) { self.page = page }

    public var all: [ControlRoute] { [metrics] }

    private var metrics: ControlRoute {
        return ControlRoute(
            "GET", "/metrics", "metrics", "Shows metrics in the text format of Prometheus.",
            answers: [RouteAnswer("All metrics.", type: Self.mediaType)]
        ) { _ throws(ControlProblem) in
            .now(ControlAnswer(page(), type: Self.mediaType))
        }
    }
}
