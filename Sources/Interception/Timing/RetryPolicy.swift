/// When an interceptor has a request sent again.
public struct RetryPolicy: Equatable, Sendable {
    /// How often at most.
    public var times = 1
    public var backoff = Backoff(first: 250)
    /// `Retry-After` (RFC 9110 §10.2.3) goes before the backoff, up to its cap.
    public var heedsRetryAfter = true
    /// Also what is not idempotent (RFC 9110 §9.2.2).
    public var repeatsAny = false

    public init() {}
}
