/// What an interceptor throws where its message is not to go on.
public enum Verdict: Error, Sendable {
    /// The client gets this response in the place of the origin's. Interceptors behind this one are not asked.
    case respond(Response)
    /// The request is sent again, as often as `limits.retries` and `timeouts.attempts` allow; past that the response at hand
    /// is delivered. Of responses alone: a request that has not gone out cannot be repeated.
    /// - Parameters:
    ///   - request: what the next attempt begins with; interceptors of requests run on it again. Nil for what the client
    ///     sent. Its body stays where none is given.
    ///   - after: how long to wait before.
    case retry(_ request: Request? = nil, after: Duration = .zero)
    /// The exchange ends with 502; the reason is told to the client and in the log.
    case abort(_ reason: String)
}
