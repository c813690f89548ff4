/// Who answers which request. What there is to ask for is put together of lists of routes, one list for each affair.
public struct ControlRouter {
    public struct Route {
        public typealias Handler = (ControlRequest, _ parameter: String) throws(ControlProblem) -> ControlAnswer

        let method: String
        /// A `*` stands for one segment, which the handler is given.
        let path: [String]
        let handler: Handler

        /// - Parameter method: GET where nothing is changed, and another everywhere else.
        public init(_ method: String, _ path: String, _ handler: @escaping Handler) {
            self.method = method
            self.path = path.split(separator: "/").map(String.init)
            self.handler = handler
        }

        /// What the star stands for; empty where there is none, nil where the path is another.
        func parameter(in path: [String]) -> String? {
            guard path.count == self.path.count else { return nil }
            var parameter = ""
            for (own, given) in zip(self.path, path) {
                if own == "*" { parameter = given } else if own != given { return nil }
            }
            return parameter
        }
    }

    private let routes: [Route]

    public init(_ routes: [Route]) { self.routes = routes }

    public func answer(_ request: ControlRequest) -> ControlAnswer {
        do throws(ControlProblem) {
            return try found(request)
        } catch {
            return error.answer
        }
    }

    private func found(_ request: ControlRequest) throws(ControlProblem) -> ControlAnswer {
        let method = request.method == "HEAD" ? "GET" : request.method
        var allowed: [String] = []
        for route in routes {
            guard let parameter = route.parameter(in: request.path) else { continue }
            if route.method == method { return try route.handler(request, parameter) }
            if !allowed.contains(route.method) { allowed.append(route.method) }
        }
        guard !allowed.isEmpty else { throw ControlProblem(404, "there is nothing of that name") }
        var problem = ControlProblem(405, "that is not done with \(request.method)")
        problem.allow = allowed.contains("GET") ? allowed + ["HEAD"] : allowed
        throw problem
    }
}
