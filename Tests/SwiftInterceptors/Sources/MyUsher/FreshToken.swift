import Usher

/// Sends a token with each request, and gets another where the origin refuses it: once for all who wait for it.
struct FreshToken: AsyncRequestInterceptor, AsyncResponseInterceptor {
    private let tokens = Tokens()

    func intercept(request: Request, action: Action) async throws -> Request {
        let token = try await tokens.current()
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        request.state["token"] = token
        return request
    }

    func intercept(response: Response, request: Request, action: Action) async throws -> Response {
        guard response.status == 401, response.state["renewed"] == nil else { return response }
        try await tokens.renew(response.state["token"])
        var request = request
        request.state["renewed"] = "yes"
        throw Verdict.retry(request)
    }
}

private actor Tokens {
    private var number = 0
    private var renewal: Task<String, any Error>?

    func current() async throws -> String {
        if renewal == nil { begin() }
        return try await renewal?.value ?? ""
    }

    /// Another takes the place of the one that was refused, unless that has happened by now.
    func renew(_ refused: String?) async throws {
        if try await current() == refused { begin() }
        _ = try await current()
    }

    private func begin() {
        number += 1
        let name = "t\(number)"
        renewal = Task { try await withCompletion { TokenService.issue(name, $0) } }
    }
}

/// In the place of a library that calls back, on a thread of its own.
private enum TokenService {
    static func issue(_ name: String, _ done: Completion<String>) {
        Task.detached { done(name) }
    }
}
