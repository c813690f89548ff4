public import Declaration
public import HTTPCodec

/// `limit`.
public struct Limit: RequestEdit {
    public static let name = "limit"
    public static let doc =
        "Lets no more requests through than so many in a time, or at a time; others wait or are refused."
    public static let shape = Shape.object(
        ObjectShape(
            "limit",
            [
                Key("rate", .text(rate), "So many requests a second, minute or hour: 10/s, 100/m, 1000/h."),
                Key(
                    "burst", .integer(1...LimitPolicy.Rate.most),
                    "So many of them at once, when none came for a while; without it as many as the rate says."),
                Key("concurrency", .integer(1...LimitPolicy.Rate.most), "So many requests are under way at a time."),
                Key(
                    "per", .choice(LimitPolicy.Scope.allCases.map(\.rawValue)),
                    "What is counted together: all, or those to one host, of one Action, or of one client.",
                    standard: "all"),
                Key(
                    "wait", .duration(1...3_600_000),
                    "How long a request waits for its turn at most; without it none waits."),
                Key("queue", .integer(1...100_000), "So many wait at a time.", standard: "100"),
                Key("status", .integer(400...599), "Of the answer to what is not let through.", standard: "429"),
            ]))
    public static let needs = EditNeed.nothing
    public static let sparesCalls = true

    public let policy: LimitPolicy

    public init(_ policy: LimitPolicy) { self.policy = policy }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        let findings = reader.findings
        if !fields.written.contains("rate"), !fields.written.contains("concurrency") {
            findings.error(value.position, "a limit has a rate or a concurrency, such as rate: 10/s")
            return nil
        }
        for (key, needed) in [("burst", "rate"), ("queue", "wait")] where !fields.written.contains(needed) {
            guard let position = fields.position(of: key) else { continue }
            findings.error(position, "\(key) means nothing without \(needed); add that, or remove this")
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

    private static let rate = TextFormat(
        "a rate such as 10/s, 100/m or 1000/h, of 1000000 at most", pattern: "^[0-9]+/[smh]$", isPublic: true
    ) { LimitPolicy.Rate($0) != nil }

    public func apply(to head: inout RequestHead) -> EditEffect { .limit(policy) }
}
