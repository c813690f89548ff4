internal import Declaration
internal import Formats

/// Reads text with variables, `${…}`, that exchanges fill in.
extension Walker {
    func template(_ written: String, _ format: TextFormat, _ position: Position, _ path: String) -> Decoded? {
        guard
            let parts = secrets.parts(written, at: position, isPublic: format.isPublic, leavesPlaces: true)
        else { return nil }
        guard Self.hasPlaces(parts) else {
            return content(Secrets.joined(parts), written, .text(format), position, path).map {
                Decoded(position: position, written: shown(written), content: $0)
            }
        }
        guard Self.mayBecome(format, parts) else {
            findings.error(
                position,
                "\(subject(path)) takes \(format.expected); this value is never valid, whatever its ${…} become")
            return nil
        }
        return Decoded(position: position, written: shown(written), content: .template(parts))
    }

    private static func hasPlaces(_ parts: [TextPart]) -> Bool {
        parts.contains { if case .place = $0 { true } else { false } }
    }

    /// Whether the format accepts the text with a word, a number, or words and numbers in place of the variables.
    private static func mayBecome(_ format: TextFormat, _ parts: [TextPart]) -> Bool {
        let fillings: [(Int) -> String] = [{ _ in "x" }, { _ in "8" }, { $0 == 0 ? "x" : "8" }]
        return fillings.contains { filling in
            let text = Secrets.joined(parts, places: filling)
            return format.accepts(text) && (try? format.converted(text)) == text
        }
    }

    // MARK: JSON

    func jsonTemplate(_ node: YAMLNode) -> Decoded? {
        var text: [TextPart] = []
        guard write(node, to: &text) else { return nil }
        // the variables of a JSON text are not found again
        if holdsStandIn(node) { findings.excuse(node.position) }
        let content: Decoded.Content
        if Self.hasPlaces(text) {
            content = .template(text)
        } else {
            guard let value = try? JSONValue(parsing: Secrets.joined(text)) else { return nil }
            content = .json(value)
        }
        return Decoded(position: node.position, written: "", content: content)
    }

    private func holdsStandIn(_ node: YAMLNode) -> Bool {
        switch node.content {
        case .scalar: findings.isExcused(node.position)
        case .list(let items): items.contains(where: holdsStandIn)
        case .map(let entries): entries.contains { holdsStandIn($0.value) }
        }
    }

    /// - Returns: false if a reference cannot be resolved. Errors are recorded as findings.
    private func write(_ node: YAMLNode, to out: inout [TextPart]) -> Bool {
        var isComplete = true
        switch node.content {
        case .list(let items):
            out.append(.text("["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(.text(",")) }
                isComplete = write(item, to: &out) && isComplete
            }
            out.append(.text("]"))
        case .map(let entries):
            out.append(.text("{"))
            for (index, entry) in entries.enumerated() {
                out.append(.text("\(index > 0 ? "," : "")\(JSONValue.string(entry.key).serialized):"))
                isComplete = write(entry.value, to: &out) && isComplete
            }
            out.append(.text("}"))
        case .scalar(let text, let isPlain):
            if isPlain, let value = Self.plain(text, node) {
                out.append(.text(value.serialized))
                return true
            }
            guard let parts = secrets.parts(text, at: node.position, isPublic: false, leavesPlaces: true) else {
                return false
            }
            out.append(.text("\""))
            out += parts.map(Self.inString)
            out.append(.text("\""))
        }
        return isComplete
    }

    private static func inString(_ part: TextPart) -> TextPart {
        guard case .text(let text) = part else { return part }
        return .text(String(JSONValue.string(text).serialized.dropFirst().dropLast()))
    }
}
