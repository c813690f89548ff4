internal import Formats

/// The route that explains a request.
public struct ExplainRoutes {
    /// - Parameters:
    ///   - request: an HTTP message or a curl command line.
    ///   - response: the origin's response, if given.
    public typealias Explaining = (_ request: [UInt8], _ response: [UInt8]?, ControlPromise) -> Void

    private let explain: Explaining

    public init(_ explain: @escaping Explaining) { self.explain = explain }

    public var all: [ControlRoute] { [explaining] }

    private var explaining: ControlRoute {
        ControlRoute(
            "POST", "/v1/explain", "explain",
            "Shows what the running configuration does to one request and its response. Nothing is sent.",
            body: .object([
                "request": .described("An HTTP message or a curl command line.", .text),
                "response?": .described("The origin's response, an HTTP message.", .text),
            ]),
            answers: [RouteAnswer("The explanation, as usher explain --json prints it.", .map(.any))],
            problems: [422: "The text is no request or no response."]
        ) { request throws(ControlProblem) in
            let body = try request.object()
            try ControlProblem.refuseUnknown(body, ["request", "response"], of: "a question")
            guard let text = body["request"]?.text else { throw ControlProblem(422, "request takes a text") }
            guard body["response"] == nil || body["response"]?.text != nil else {
                throw ControlProblem(422, "response takes a text")
            }
            let response = body["response"]?.text.map { Array($0.utf8) }
            return .later { explain(Array(text.utf8), response, $0) }
        }
    }
}
