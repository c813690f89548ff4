internal import Declaration

/// Finds duplicate keys of a map. Most maps are so small that a linear search is fastest.
struct KeyLines {
    private static let few = 16
    private var lines: [String: Int] = [:]

    /// The line of an earlier occurrence of the key; nil for a new key.
    /// - Parameter entries: the entries before it.
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
