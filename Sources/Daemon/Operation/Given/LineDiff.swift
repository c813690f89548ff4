/// The difference between two texts, by lines.
struct LineDiff {
    enum Mark: String {
        case same = " "
        case removed = "-"
        case added = "+"
    }

    struct Line: Equatable {
        var mark: Mark
        var text: String
    }

    private(set) var lines: [Line] = []

    /// Of longer texts, only the beginning and the end are compared, because the time is quadratic.
    private static let most = 2_000

    init(_ old: [String], _ new: [String]) {
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < new.count - start, old[old.count - 1 - end] == new[new.count - 1 - end] {
            end += 1
        }
        let before = Array(old[start..<old.count - end])
        let after = Array(new[start..<new.count - end])
        lines = old[..<start].map { Line(mark: .same, text: $0) }
        lines += Self.middle(before, after)
        lines += old[(old.count - end)...].map { Line(mark: .same, text: $0) }
    }

    var isSame: Bool { lines.allSatisfy { $0.mark == .same } }

    private static func middle(_ old: [String], _ new: [String]) -> [Line] {
        guard old.count <= most, new.count <= most else {
            return old.map { Line(mark: .removed, text: $0) } + new.map { Line(mark: .added, text: $0) }
        }
        var removed: Set<Int> = []
        var added: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, removed.contains(left) {
                lines.append(Line(mark: .removed, text: old[left]))
                left += 1
            } else if right < new.count, added.contains(right) {
                lines.append(Line(mark: .added, text: new[right]))
                right += 1
            } else {
                lines.append(Line(mark: .same, text: old[left]))
                left += 1
                right += 1
            }
        }
        return lines
    }

    /// The difference with a limited number of unchanged lines around changes; one line replaces the others.
    func folded(around context: Int) -> LineDiff {
        var kept = [Bool](repeating: false, count: lines.count)
        for index in lines.indices where lines[index].mark != .same {
            for near in max(0, index - context)...min(lines.count - 1, index + context) { kept[near] = true }
        }
        var folded = self
        folded.lines = []
        var index = 0
        while index < lines.count {
            let end = lines.indices[index...].first { kept[$0] } ?? lines.count
            if end - index > 1 {
                folded.lines.append(Line(mark: .same, text: "… \(end - index) unchanged lines"))
            } else {
                folded.lines += lines[index..<end]
            }
            index = end
            if index < lines.count {
                folded.lines.append(lines[index])
                index += 1
            }
        }
        return folded
    }
}
