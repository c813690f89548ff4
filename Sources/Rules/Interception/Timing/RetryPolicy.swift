internal import Declaration

/// The retries that an interceptor requests.
public struct RetryPolicy: Equatable, Sendable {
    /// The largest number of retries.
    public var times = 1
    public var backoff = Backoff(first: 250)
    /// Whether `Retry-After` (RFC 9110 §10.2.3) takes precedence over the backoff, up to its cap.
    public var heedsRetryAfter = true
    /// Whether requests that are not idempotent (RFC 9110 §9.2.2) are repeated, too.
    public var repeatsAny = false

    public init() {}
}

/// The configuration syntax.
extension Retry {
    /// - Parameter times: the default of `times`; `backoff` likewise.
    static func keys(times: Int, backoff: Int) -> [Key] {
        [
            Key("times", .integer(1...100), "The largest number of retries by this interceptor.", standard: "\(times)"),
            Key("after", .duration(0...3_600_000), "The wait before the first retry.", standard: "250ms"),
            Key(
                "backoff", .text(factor), "The factor by which each wait is longer than the last.",
                standard: "\(backoff)"),
            Key("jitter", .integer(0...100), "The random part of each wait, in percent.", standard: "0"),
            Key("retry_after", .boolean, "Wait as long as Retry-After says.", standard: "true"),
            Key("cap", .duration(0...3_600_000), "The longest wait.", standard: "1h"),
            Key(
                "methods", .choice(["idempotent", "any"]),
                "Requests to repeat: those with an idempotent method, or any.", standard: "idempotent"),
        ]
    }

    private static let factor = TextFormat("a number from 1 to 10, such as 2 or 1.5", isPublic: true) { text in
        Double(text).map { (1...10).contains($0) } ?? false
    }
}

extension RetryPolicy {
    /// Sets the values that are present and keeps the others.
    mutating func read(_ fields: Fields) {
        if let times = fields.number("times") { self.times = times }
        if let after = fields.number("after") { backoff.first = after }
        if let factor = fields.text("backoff").flatMap(Double.init) { backoff.factor = factor }
        if let jitter = fields.number("jitter") { backoff.jitter = Double(jitter) / 100 }
        if let cap = fields.number("cap") { backoff.cap = cap }
        if let heeds = fields.flag("retry_after") { heedsRetryAfter = heeds }
        if let methods = fields.text("methods") { repeatsAny = methods == "any" }
    }
}
