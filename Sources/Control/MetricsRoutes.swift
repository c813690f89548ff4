/// The source of metrics.
public protocol MetricsSource: AnyObject {
    /// All metrics as text.
    var metrics: (text: [UInt8], type: String) { get }
}

/// The route for Prometheus.
public struct MetricsRoutes {
    private unowned let source: any MetricsSource

    /// The media type of Prometheus's text format.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    public init(_ source: any MetricsSource) { self.source = source }

    public var all: [ControlRoute] { [metrics] }

    private var metrics: ControlRoute {
        let description = RouteDescription(
            "metrics", "Shows metrics in the text format of Prometheus.",
            answers: [RouteAnswer("All metrics.", type: Self.mediaType)])
        return ControlRoute("GET", "/metrics", description) { _ throws(ControlProblem) in
            let metrics = source.metrics
            return .now(ControlAnswer(metrics.text, type: metrics.type))
        }
    }
}
