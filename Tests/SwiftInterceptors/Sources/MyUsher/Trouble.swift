import Usher

/// What goes wrong costs the exchange that it goes wrong in, and no other.
struct Throws: RequestInterceptor, AsyncResponseInterceptor {
    struct NotToday: Error {}

    func intercept(request: Request, action: Action) throws -> Request { throw NotToday() }
    func intercept(response: Response, request: Request, action: Action) async throws -> Response { throw NotToday() }
}

/// Waits for what never comes, heedless of whether anybody still waits for it.
struct Stuck: AsyncRequestInterceptor {
    func intercept(request: Request, action: Action) async -> Request {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return request
    }
}

/// Completes more often than it should.
struct Twice: AsyncRequestInterceptor {
    func intercept(request: Request, action: Action) async throws -> Request {
        var request = request
        request.headers["X-Completed"] = try await withCompletion { done in
            done("first")
            done("second")
        }
        return request
    }
}
