/// What is written in Swift and registered under a name, for `swift: NAME` in the lists `request` and `response` of an
/// interceptor. Conform to one or more of `RequestInterceptor`, `ResponseInterceptor` and their asynchronous forms.
///
/// One value serves all exchanges, on all threads: what it keeps of one exchange belongs into `Request.state` and
/// `Response.state`.
public protocol Interceptor: Sendable {
    /// Whether it is given bodies, and may change them. A body is given whole then, out of its content codings, as far as
    /// `limits.buffered_body` allows. False unless it says otherwise.
    var wantsBody: Bool { get }
}

extension Interceptor {
    public var wantsBody: Bool { false }
}

/// Changes requests before they go out. It runs on the loop that serves the client, so it has to return at once: no
/// waiting, no files, no locks that others hold for long. What takes time is an `AsyncRequestInterceptor`.
public protocol RequestInterceptor: Interceptor {
    /// - Parameters:
    ///   - request: as the interceptors before this one left it.
    ///   - action: what the request means to AM.
    /// - Returns: the request that goes on; the same one where nothing is to be changed.
    /// - Throws: a `Verdict` where something else is to happen. Any other error ends this exchange with 502.
    func intercept(request: Request, action: Action) throws -> Request
}

/// Changes requests before they go out, and may take its time: it runs off the loop, as a task that is cancelled when the
/// client leaves or the time of the configuration (`deadline`) is over.
public protocol AsyncRequestInterceptor: Interceptor {
    /// - Parameters:
    ///   - request: as the interceptors before this one left it.
    ///   - action: what the request means to AM.
    /// - Returns: the request that goes on; the same one where nothing is to be changed.
    /// - Throws: a `Verdict` where something else is to happen. Any other error ends this exchange with 502.
    func intercept(request: Request, action: Action) async throws -> Request
}

/// Changes responses before the client has a byte of them. It runs on the loop that serves the client, so it has to return
/// at once.
public protocol ResponseInterceptor: Interceptor {
    /// - Parameters:
    ///   - response: as the interceptors before this one left it.
    ///   - request: as the client sent it, without its body. It is what `Verdict.retry` begins with.
    ///   - action: what the request means to AM.
    /// - Returns: the response that goes on; the same one where nothing is to be changed.
    /// - Throws: a `Verdict` where something else is to happen. Any other error ends this exchange with 502.
    func intercept(response: Response, request: Request, action: Action) throws -> Response
}

/// Looks at a response that is held whole, and may take its time: ask somebody else, wait, then deliver it, change it, answer
/// in its place, or have the request sent again. It runs off the loop, as a task that is cancelled when the client leaves or
/// the time of the configuration (`deadline`) is over.
public protocol AsyncResponseInterceptor: Interceptor {
    /// - Parameters:
    ///   - response: as the interceptors before this one left it.
    ///   - request: as the client sent it, without its body. It is what `Verdict.retry` begins with.
    ///   - action: what the request means to AM.
    /// - Returns: the response that goes on; the same one where nothing is to be changed.
    /// - Throws: a `Verdict` where something else is to happen. Any other error ends this exchange with 502.
    func intercept(response: Response, request: Request, action: Action) async throws -> Response
}
