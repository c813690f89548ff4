public import Declaration
public import HTTPCodec

/// `retry`.
public struct Retry: ResponseEdit, ErrorEdit {
    public static let name = "retry"
    public static let doc =
        "Has the request sent again while the client waits; false takes back that another asked for it, with compatibility: cdt."
    public static let shape = Shape.booleanOr(
        ObjectShape(
            "retry",
            [
                Key("times", .integer(1...100), "How often at most, by this interceptor.", standard: "1"),
                Key("after", .duration(0...3_600_000), "How long to wait before the first.", standard: "250ms"),
                Key("backoff", .text(factor), "How much longer each wait is than the one before.", standard: "1"),
                Key("jitter", .integer(0...100), "Per cent of each wait that chance decides on.", standard: "0"),
                Key("retry_after", .boolean, "Waits as long as Retry-After asks, where it does.", standard: "true"),
                Key("cap", .duration(0...3_600_000), "No wait is longer.", standard: "1h"),
                Key(
                    "methods", .choice(["idempotent", "any"]),
                    "Which requests are repeated: those that may be, or all of them.", standard: "idempotent"),
            ]))
    public static let needs = EditNeed.nothing

    /// Nil to let what is there stand, where the one who speaks last decides.
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
        if let times = fields.number("times") { policy.times = times }
        if let after = fields.number("after") { policy.backoff.first = after }
        if let factor = fields.text("backoff").flatMap(Double.init) { policy.backoff.factor = factor }
        if let jitter = fields.number("jitter") { policy.backoff.jitter = Double(jitter) / 100 }
        if let cap = fields.number("cap") { policy.backoff.cap = cap }
        if let heeds = fields.flag("retry_after") { policy.heedsRetryAfter = heeds }
        if let methods = fields.text("methods") { policy.repeatsAny = methods == "any" }
        self.init(policy)
    }

    private static let factor = TextFormat("a number from 1 to 10, such as 2 or 1.5", isPublic: true) { text in
        Double(text).map { (1...10).contains($0) } ?? false
    }

    public func apply(to head: inout ResponseHead) -> EditEffect { apply() }
    public func apply() -> EditEffect { policy.map { .retry($0) } ?? .noRetry }
}

extension Edit where Self == Retry {
    public static func retry(_ policy: RetryPolicy?) -> Self { Retry(policy) }
}
