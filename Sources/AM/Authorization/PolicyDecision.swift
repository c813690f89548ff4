internal import Formats

/// AM's decision on one resource (docs/protocol.md#policy-evaluations). An object with other members is application data and no
/// decision.
struct PolicyDecision {
    let resource: String
    private let actions: JSONValue
    let advices: JSONValue
    private let ttl: JSONValue?

    private static let members: Set<String> = ["resource", "actions", "attributes", "advices"]

    /// The decisions in a body that is one decision or a list of decisions only; nil for any other body.
    static func list(_ body: [UInt8]) -> [PolicyDecision]? {
        guard couldBeList(body), let value = try? JSONValue(parsing: body) else { return nil }
        var decisions: [PolicyDecision] = []
        for item in value.items ?? [value] {
            guard let decision = PolicyDecision(item) else { return nil }
            decisions.append(decision)
        }
        return decisions
    }

    private init?(_ value: JSONValue) {
        guard let members = value.members else { return nil }
        let names = Set(members.map(\.name))
        // a duplicate name could be read differently elsewhere
        guard names.count == members.count, names.subtracting(["ttl"]) == Self.members,
            let resource = value["resource"]?.text, let actions = value["actions"], Self.isMap(actions),
            let attributes = value["attributes"], Self.isMap(attributes), let advices = value["advices"]
        else { return nil }
        self.resource = resource
        self.actions = actions
        self.advices = advices
        ttl = value["ttl"]
    }

    /// Some servers write an empty map as a list.
    private static func isMap(_ value: JSONValue) -> Bool { value.members != nil || value.items != nil }

    /// True if any action is allowed.
    var grants: Bool {
        if let members = actions.members { return members.contains { $0.value.isTrue } }
        return (actions.items ?? []).contains { $0.isTrue }
    }

    /// Whether an action is allowed. Duplicate entries all have to allow it.
    func allows(_ action: String) -> Bool {
        let found = (actions.members ?? []).filter { $0.name == action }
        return !found.isEmpty && found.allSatisfy { $0.value.isTrue }
    }

    var hasAdvice: Bool { advices.members?.isEmpty == false || advices.items?.isEmpty == false }

    /// The expiry in milliseconds since 1970; nil if the decision must not be cached or the time is invalid.
    var expires: Int? { ttl?.integer.flatMap { $0 > 0 ? $0 : nil } }

    /// A quick check that the body starts as an object or a list of objects, so that other bodies are not parsed.
    private static func couldBeList(_ body: [UInt8]) -> Bool {
        var rest = body.drop(while: isSpace)
        if rest.first == 0x5B { rest = rest.dropFirst().drop(while: isSpace) }
        return rest.first == 0x7B
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}
