/// The explanation of an evaluated condition.
struct ConditionFinding {
    var holds: Bool
    /// The term that decided, as part of a sentence.
    var because: String
    /// The smallest set of terms that would have to change for the condition to hold.
    var misses: [String]
    /// The number of terms that held.
    var held: Int
}

extension ConditionFinding {
    /// The finding for one term.
    init(_ holds: Bool, _ because: String) {
        self.init(holds: holds, because: because, misses: holds ? [] : [because], held: holds ? 1 : 0)
    }
}

extension CompiledCondition {
    func explain(_ subject: Subject, _ bodies: inout SubjectBodies) -> ConditionFinding {
        switch self {
        case .always: return ConditionFinding(holds: true, because: "applies to everything", misses: [], held: 0)
        case .all(let parts):
            let findings = parts.map { $0.explain(subject, &bodies) }
            let failed = findings.first { !$0.holds }
            return ConditionFinding(
                holds: failed == nil,
                because: failed?.because ?? findings.map(\.because).joined(separator: " and "),
                misses: findings.flatMap(\.misses), held: findings.reduce(0) { $0 + $1.held })
        case .any(let parts):
            let findings = parts.map { $0.explain(subject, &bodies) }
            if let held = findings.first(where: \.holds) { return held }
            let nearest = findings.min { $0.misses.count < $1.misses.count }
            return ConditionFinding(
                holds: false, because: findings.map(\.because).joined(separator: "; "),
                misses: nearest?.misses ?? [], held: nearest?.held ?? 0)
        case .not(let part):
            let finding = part.explain(subject, &bodies)
            return ConditionFinding(!finding.holds, "not (\(finding.because))")
        case .test(let test):
            let (holds, because) = test.explain(subject)
            return ConditionFinding(holds, because)
        case .body(let test):
            let (holds, because) = test.explain(subject, &bodies)
            return ConditionFinding(holds, because)
        }
    }
}

extension CompiledCondition.Test {
    fileprivate func explain(_ subject: Subject) -> (holds: Bool, because: String) {
        let holds = holds(for: subject)
        var values: [String] = []
        _ = subject.contains(key) { value in
            values.append(value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            return false
        }
        let name = key.name
        guard !values.isEmpty else {
            let isUnknown = [.tree, .type].contains(key) && subject.classification?.payloadSource == .unknown
            let found = isUnknown ? "nothing tells the \(name)" : "there is no \(name)"
            return (holds, found + (key.isSecret ? "" : ", wanted \(wanted)"))
        }
        guard !key.isSecret else {
            return (holds, "\(name) is there and \(holds ? "fits" : "does not fit")")
        }
        let found = "\(name) is \(Self.shortened(values.joined(separator: ", ")))"
        return (holds, holds ? found : "\(found), wanted \(wanted)")
    }

    /// Shortens long values, such as an advice document as `tree`.
    private static func shortened(_ text: String) -> String {
        text.count > 120 ? "\(text.prefix(117))..." : text
    }
}
