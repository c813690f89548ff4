public import Declaration
public import HTTPCodec

/// `retry`.
public struct Retry: ResponseEdit, ErrorEdit {
    public static let name = "retry"
    public static let doc =
        "Has the request sent again while the client waits; false takes back that another asked for it, with compatibility: cdt."
    public static let shape = Shape.either(.boolean, ObjectShape("retry", keys(times: 1, backoff: 1)))
    public static let needs = EditNeed.nothing

    /// Nil for `retry: false`. It withdraws an earlier retry if the last interceptor decides.
    public let policy: RetryPolicy?

    public init(_ policy: RetryPolicy?) { self.policy = policy }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        var policy = reader.chain.retry
        guard let fields = value.fields else {
            if value.flag == false, !reader.chain.lastDecides {
                reader.findings.warning(
                    value.position,
                    "this changes nothing: what one interceptor asks for, no other takes back, but with compatibility: cdt"
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
