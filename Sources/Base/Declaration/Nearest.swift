internal import Formats

/// Suggests a known name for a misspelt one.
public enum Nearest {
    /// Nil if no name is close, because a wrong suggestion is worse than none. Case, `-` and `_` are ignored.
    public static func name(to text: String, among known: some Sequence<String>) -> String? {
        let wanted = folded(text)
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        var best: (name: String, distance: Int)?
        for name in known {
            let distance = distance(wanted, folded(name))
            guard distance <= max(1, min(wanted.count, name.utf8.count) / 3) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (name, distance) }
        }
        return best?.name
    }

    private static func folded(_ text: String) -> [UInt8] { text.utf8.map { $0 == 0x2D ? 0x5F : ASCII.lower($0) } }

    /// The optimal string alignment distance: insertions, deletions, replacements, and swaps of neighbours.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(current[column] + 1, last[column + 1] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
