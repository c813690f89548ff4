internal import Declaration

/// Which keys a map has so far. Most maps have so few that looking at each is quickest.
struct KeyLines {
    private static let few = 16
    private var lines: [String: Int] = [:]

    /// The line of the same key before; nil for one that is new.
    /// - Parameter entries: those before it.
    mutating func note(_ key: String, _ line: Int, among entries: [YAMLNode.Entry]) -> Int? {
        if entries.count < Self.few { return entries.first { $0.key == key }?.position.line }
        if lines.isEmpty {
            lines = Dictionary(entries.map { ($0.key, $0.position.line) }, uniquingKeysWith: { first, _ in first })
        }
        if let known = lines[key] { return known }
        lines[key] = line
        return nil
    }
}
