internal import HTTPCodec

extension CompiledCondition {
    /// Whether the condition holds, and the term that decided, as a sentence's part.
    func explain(_ subject: Subject) -> (holds: Bool, because: String) {
        switch self {
        case .always: return (true, "applies to everything")
        case .all(let parts):
            let results = parts.map { $0.explain(subject) }
            if let failed = results.first(where: { !$0.holds }) { return failed }
            return (true, results.map(\.because).joined(separator: " and "))
        case .any(let parts):
            let results = parts.map { $0.explain(subject) }
            if let held = results.first(where: \.holds) { return held }
            return (false, results.map(\.because).joined(separator: "; "))
        case .not(let part):
            let result = part.explain(subject)
            return (!result.holds, "not (\(result.because))")
        case .test(let test): return test.explain(subject)
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
        guard !values.isEmpty else { return (holds, "there is no \(name)\(key.isSecret ? "" : ", wanted \(wanted)")") }
        guard !key.isSecret else {
            return (holds, "\(name) is there and \(holds ? "fits" : "does not fit")")
        }
        let found = "\(name) is \(Self.shortened(values.joined(separator: ", ")))"
        return (holds, holds ? found : "\(found), wanted \(wanted)")
    }

    /// An advice document as `tree` would fill the screen.
    private static func shortened(_ text: String) -> String {
        text.count > 120 ? "\(text.prefix(117))..." : text
    }
}
