/// An outcome that an interceptor throws instead of passing the message on.
public enum Verdict: Error, Sendable {
    /// Sends the client this response in place of the origin's. Later interceptors do not run.
    case respond(Response)
    /// Sends the request again, within `limits.retries` and `timeouts.attempts`; beyond them, the present response is delivered.
    /// Only for responses: a request that was not sent cannot be repeated.
    /// - Parameters:
    ///   - request: the request to send; request interceptors run on it again. Nil for the client's request. Without a body, it
    ///     keeps
    ///     the client's.
    ///   - after: the wait before the retry.
    case retry(_ request: Request? = nil, after: Duration = .zero)
    /// Ends the exchange with 502. The reason goes to the client and to the log.
    case abort(_ reason: String)
}
