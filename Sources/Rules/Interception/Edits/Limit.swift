public import Declaration
public import HTTPCodec

/// `limit`.
public struct Limit: RequestEdit {
    public static let name = "limit"
    public static let doc =
        "Limits the rate of requests, or how many are in progress. Others wait or are refused."
    public static let shape = Shape.object(
        ObjectShape(
            "limit",
            [
                Key("rate", .text(rate), "Requests per second, minute or hour: 10/s, 100/m, 1000/h."),
                Key(
                    "burst", .integer(1...LimitPolicy.Rate.most),
                    "Requests at once after a pause. Without the key, as many as rate allows."),
                Key("concurrency", .integer(1...LimitPolicy.Rate.most), "Concurrent requests."),
                Key(
                    "per", .choice(LimitPolicy.Scope.allCases.map(\.rawValue)),
                    "The scope of the count: all requests, or those of one host, Action or client.",
                    standard: "all"),
                Key(
                    "wait", .duration(1...3_600_000),
                    "The longest time that a request waits. Without the key, none waits."),
                Key("queue", .integer(1...100_000), "Requests that may wait.", standard: "100"),
                Key("status", .integer(400...599), "Status of the response to a refused request.", standard: "429"),
            ]))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.observe
    public static let sparesCalls = true

    public let policy: LimitPolicy

    public init(_ policy: LimitPolicy) { self.policy = policy }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        let findings = reader.findings
        if !fields.written.contains("rate"), !fields.written.contains("concurrency") {
            findings.error(value.position, "a limit takes rate or concurrency, such as rate: 10/s")
            return nil
        }
        for (key, needed) in [("burst", "rate"), ("queue", "wait")] where !fields.written.contains(needed) {
            guard let position = fields.position(of: key) else { continue }
            findings.error(position, "\(key) has no effect without \(needed); add \(needed), or remove \(key)")
        }
        var policy = LimitPolicy(
            rate: fields.text("rate").flatMap { LimitPolicy.Rate($0) }, concurrency: fields.number("concurrency"))
        policy.burst = fields.number("burst")
        policy.scope = fields.text("per").flatMap { LimitPolicy.Scope(rawValue: $0) } ?? .all
        policy.wait = fields.number("wait")
        if let queue = fields.number("queue") { policy.queue = queue }
        if let status = fields.number("status") { policy.status = status }
        self.init(policy)
    }

    public static let rate = TextFormat(
        "a rate such as 10/s, 100/m or 1000/h, of 1000000 at most", pattern: "^[0-9]+/[smh]$", isPublic: true
    ) { LimitPolicy.Rate($0) != nil }

    public func apply(to head: inout RequestHead) -> EditEffect { .limit(policy) }
}
