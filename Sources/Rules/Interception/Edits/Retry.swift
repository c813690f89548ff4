public import Declaration
public import HTTPCodec

/// `retry`.
public struct Retry: ResponseEdit, ErrorEdit {
    public static let name = "retry"
    public static let doc =
        "Sends the request again while the client waits. With compatibility: cdt, false cancels an earlier retry."
    public static let shape = Shape.either(.boolean, ObjectShape("retry", keys(times: 1, backoff: 1)))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.replay

    /// Nil for `retry: false`. It withdraws an earlier retry if the last interceptor decides.
    public let policy: RetryPolicy?

    public init(_ policy: RetryPolicy?) { self.policy = policy }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        var policy = reader.chain.retry
        guard let fields = value.fields else {
            if value.flag == false, !reader.chain.lastDecides {
                reader.findings.warning(
                    value.position,
                    "retry: false has no effect without compatibility: cdt; remove it"
                )
            }
            self.init(value.flag == true ? policy : nil)
            return
        }
        policy.read(fields)
        self.init(policy)
    }

    public func apply(to head: inout ResponseHead) -> EditEffect { apply() }
    public func apply() -> EditEffect { policy.map { .retry($0) } ?? .noRetry }
}
