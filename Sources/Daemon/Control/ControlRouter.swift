/// Finds the route of a request. Each topic has its own list of routes.
public struct ControlRouter {
    public let routes: [ControlRoute]

    /// Adds the route of the description, `/v1/openapi.json`.
    public init(_ routes: [ControlRoute]) { self.routes = routes + [OpenAPIDocument.route(of: routes)] }

    public func reply(_ request: ControlRequest) -> ControlReply {
        do throws(ControlProblem) {
            return try found(request)
        } catch {
            return .now(error.answer)
        }
    }

    /// Whether a path is answered without a token.
    public func isOpen(_ path: [String]) -> Bool { routes.contains { $0.isOpen && $0.match(path) != nil } }

    private func found(_ request: ControlRequest) throws(ControlProblem) -> ControlReply {
        let method = request.method == "HEAD" ? "GET" : request.method
        var allowed: [String] = []
        for route in routes {
            guard let path = route.match(request.path) else { continue }
            if route.method == method {
                var request = request
                request.arguments = try ControlArguments(
                    path, query: request.query, route.description.parameters)
                return try route.handler(request)
            }
            if !allowed.contains(route.method) { allowed.append(route.method) }
        }
        guard !allowed.isEmpty else { throw ControlProblem(404, "there is no such route") }
        var problem = ControlProblem(405, "the route does not permit \(request.method.prefix(40))")
        problem.allow = allowed.contains("GET") ? allowed + ["HEAD"] : allowed
        throw problem
    }
}
