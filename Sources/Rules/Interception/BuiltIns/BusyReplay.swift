public import Declaration

/// `replay`: retries requests that a busy server rejects, after a while.
public struct BusyReplay: BuiltIn {
    public static let name = "replay"
    public static let doc =
        "Sends a request again after 429 or 503, while the client waits."
    public static let shape = Shape.object(
        ObjectShape(
            "replay",
            [
                Key(
                    "status", .oneOrMany(.integer(400...599)), "Statuses after which to send the request again.",
                    standard: "[429, 503]")
            ]
                + Retry.keys(times: 3, backoff: 2)))

    public let readsAnswer = true

    private let statuses: [Int]
    private let policy: RetryPolicy

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        var policy = RetryPolicy()
        policy.times = 3
        policy.backoff.factor = 2
        policy.read(fields)
        self.policy = policy
        statuses = fields.has("status") ? fields.list("status").compactMap(\.number) : [429, 503]
        if fields["status"]?.isEmptyList == true {
            reader.findings.error(
                value.position, "status is an empty list, which matches nothing; write one or remove the key")
        }
    }

    public func equip(_ rule: inout Rule) {
        let busy = Condition.test(.status, statuses.map { .exact(String($0)) })
        rule.when = rule.when.and(busy)
        rule.response = [Retry(policy)]
    }

    public var words: String {
        "sends refused requests again, \(policy.times == 1 ? "once" : "\(policy.times) times") at most"
    }
}
