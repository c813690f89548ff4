/// An interceptor written in Swift. Register it under a name, and use it with `swift: NAME` in the lists `request` and `response`
/// of an interceptor. Conform to one or more of `RequestInterceptor`, `ResponseInterceptor` and their asynchronous forms.
///
/// One value serves all exchanges on all threads. Keep data of an exchange in `Request.state` and `Response.state`.
public protocol Interceptor: Sendable {
    /// Whether the interceptor receives bodies and may change them. A body is complete and without content codings, up to
    /// `limits.buffered_body`. The default is false.
    var wantsBody: Bool { get }
}

extension Interceptor {
    public var wantsBody: Bool { false }
}

/// Changes requests before they are sent. It runs on the event loop of the client, so it must return at once: do not wait, read
/// files or take contended locks. Use `AsyncRequestInterceptor` for slow work.
public protocol RequestInterceptor: Interceptor {
    /// - Parameters:
    ///   - request: the request after the interceptors before this one.
    ///   - action: the meaning of the request to AM.
    /// - Returns: the request to send; return it unchanged to change nothing.
    /// - Throws: a `Verdict` for another outcome. Any other error ends the exchange with 502.
    func intercept(request: Request, action: Action) throws -> Request
}

/// Changes requests before they are sent, and may take time. It runs off the event loop in a task, which is cancelled when the
/// client disconnects or the configured `deadline` passes.
public protocol AsyncRequestInterceptor: Interceptor {
    /// - Parameters:
    ///   - request: the request after the interceptors before this one.
    ///   - action: the meaning of the request to AM.
    /// - Returns: the request to send; return it unchanged to change nothing.
    /// - Throws: a `Verdict` for another outcome. Any other error ends the exchange with 502.
    func intercept(request: Request, action: Action) async throws -> Request
}

/// Changes responses before the client receives any byte. It runs on the event loop of the client, so it must return at once.
public protocol ResponseInterceptor: Interceptor {
    /// - Parameters:
    ///   - response: the response after the interceptors before this one.
    ///   - request: the client's request without its body. `Verdict.retry` starts from it.
    ///   - action: the meaning of the request to AM.
    /// - Returns: the response to deliver; return it unchanged to change nothing.
    /// - Throws: a `Verdict` for another outcome. Any other error ends the exchange with 502.
    func intercept(response: Response, request: Request, action: Action) throws -> Response
}

/// Handles a response that is held back completely, and may take time: call another service, wait, and then deliver, change or
/// replace the response, or retry the request. It runs off the event loop in a task, which is cancelled when the client
/// disconnects or the configured `deadline` passes.
public protocol AsyncResponseInterceptor: Interceptor {
    /// - Parameters:
    ///   - response: the response after the interceptors before this one.
    ///   - request: the client's request without its body. `Verdict.retry` starts from it.
    ///   - action: the meaning of the request to AM.
    /// - Returns: the response to deliver; return it unchanged to change nothing.
    /// - Throws: a `Verdict` for another outcome. Any other error ends the exchange with 502.
    func intercept(response: Response, request: Request, action: Action) async throws -> Response
}
