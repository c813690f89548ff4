import Usher

/// Takes a line out of what the client gets, and counts what it has seen of the exchange.
struct NoAddress: ResponseInterceptor {
    let wantsBody = true

    func intercept(response: Response, request: Request, action: Action) -> Response {
        var response = response
        let seen = (Int(response.state["seen"] ?? "") ?? 0) + 1
        response.state["seen"] = String(seen)
        response.headers["X-Seen"] = "\(seen) \(request.method) \(action.type)"
        response.text = response.text?.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("address") }.joined(separator: "\n")
        return response
    }
}

/// Answers itself.
struct Tea: RequestInterceptor {
    func intercept(request: Request, action: Action) throws -> Request {
        throw Verdict.respond(Response(status: 418, headers: ["Content-Type": "text/plain"], body: Array("short".utf8)))
    }
}
