/// Describes a condition for readers of the configuration. Expected values of headers, queries, cookies and bodies are left out,
/// because they may be secrets.
extension Condition {
    public var words: String {
        switch self {
        case .always: "everything"
        case .all(let parts): parts.map(\.words).joined(separator: " and ")
        case .any(let parts): "(\(parts.map(\.words).joined(separator: " or ")))"
        case .not(let part): "not (\(part.words))"
        case .test(let key, let matchers):
            key.isSecret ? key.name : "\(key.name) \(matchers.map(\.words).joined(separator: " or "))"
        }
    }
}

extension TextMatcher {
    fileprivate var words: String {
        switch self {
        case .exact(let text), .glob(let text): text
        case .pattern(let pattern): "~\(pattern.watch.written)"
        case .range(let range):
            range.lowerBound % 100 == 0 && range.count == 100
                ? "\(range.lowerBound / 100)xx" : "\(range.lowerBound)-\(range.upperBound)"
        }
    }
}
