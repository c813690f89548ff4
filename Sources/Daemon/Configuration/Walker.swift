internal import Declaration
internal import Formats

/// Checks a YAML tree against the key table and extracts the values. Every error is recorded at its position, and the walk
/// continues.
struct Walker {
    let findings: Findings
    let secrets: Secrets

    // MARK: objects

    /// - Parameter path: the path of the object, for messages: `authorization.limits`.
    func object(_ node: YAMLNode, _ name: ObjectShape, path: String) -> Fields? {
        guard case .map(let entries) = node.content else {
            let hint: String
            if case .list = node.content { hint = "; write \"key: value\" lines without \"- \"" } else { hint = "" }
            findings.error(node.position, "\(subject(path)) takes keys with values, found \(node.kind)\(hint)")
            return nil
        }
        let keys = name.keys
        var fields = Fields(position: node.position)
        fields.all.reserveCapacity(entries.count)
        fields.written.reserveCapacity(entries.count)
        for entry in entries {
            fields.written.append(entry.key)
            let inner = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            let row = Unavailable.row(name, entry.key)
            guard let place = keys.firstIndex(where: { $0.name == entry.key }) else {
                if let row {
                    if !row.accepts(json(entry.value, resolving: false)) { refuse(row, inner, entry.position) }
                } else {
                    unknown(entry, name, path)
                }
                continue
            }
            guard let value = decode(entry.value, keys[place].shape, path: inner, keyPosition: entry.position)
            else { continue }
            if let row, !row.accepts(json(entry.value, resolving: true)) {
                refuse(row, inner, value.position)
                continue
            }
            fields.all.append(.init(name: entry.key, position: entry.position, value: value))
        }
        // keys are large and few are required, so they are not copied for this test
        for place in keys.indices where keys[place].isRequired && !fields.has(keys[place].name) {
            let key = keys[place]
            findings.error(node.position, "\(subject(path)) lacks the key \"\(key.name)\"\(example(key))")
        }
        return fields
    }

    func refuse(_ row: Unavailable.Row, _ path: String, _ position: Position) {
        findings.error(position, "\(path): \(row.what) is not available in this version; \(row.remedy)")
    }

    private func unknown(_ entry: YAMLNode.Entry, _ name: ObjectShape, _ path: String) {
        if let other = Self.otherPhase[name], other.keys.contains(where: { $0.name == entry.key }) {
            let place =
                name == KeyTable.requestEdit
                ? "to a request" : name == KeyTable.responseEdit ? "to a response" : "without a response"
            findings.error(
                entry.position, "\"\(entry.key)\" does not apply \(place); move it to the interceptor's other list"
            )
            return
        }
        let known = name.keys.map(\.name) + Unavailable.keys(of: name)
        let nearest = Nearest.name(to: entry.key, among: known)
        let place = path.isEmpty ? "" : " in \(path)"
        let choice = nearest == nil ? "; valid keys: \(known.joined(separator: ", "))" : ""
        findings.error(entry.position, "unknown key \"\(shown(entry.key))\"\(place)\(choice)", nearest: nearest)
    }

    private static let otherPhase: [ObjectShape: ObjectShape] = [
        KeyTable.requestEdit: KeyTable.responseEdit, KeyTable.responseEdit: KeyTable.requestEdit,
        KeyTable.errorEdit: KeyTable.responseEdit,
    ]

    private func example(_ key: Key) -> String {
        switch key.shape {
        case .text(let format): "; it takes \(format.expected)"
        case .integer(let range) where range.count == 1: "; write \(key.name): \(range.lowerBound)"
        default: ""
        }
    }

    // MARK: values

    func decode(_ node: YAMLNode, _ shape: Shape, path: String, keyPosition: Position) -> Decoded? {
        // a key without a value is an empty list; it remains when all entries are commented out
        if node.isNull {
            switch shape {
            case .list, .oneOrMany: return Decoded(position: keyPosition, written: "", content: .list([]))
            case .object, .map:
                return decode(
                    YAMLNode(position: keyPosition, content: .map([])), shape, path: path, keyPosition: keyPosition)
            case .json: break
            case .orNull: return Decoded(position: keyPosition, written: "", content: .nothing)
            default:
                findings.error(keyPosition, "\(subject(path)) takes \(shape.expectation()), found nothing")
                return nil
            }
        }
        switch shape {
        case .list(let element):
            guard case .list(let items) = node.content else {
                findings.error(
                    node.position, "\(subject(path)) takes a list, found \(node.kind); start every entry with \"- \"")
                return nil
            }
            return list(items, element, node, path)
        case .oneOrMany(let element):
            guard case .list(let items) = node.content else { return list([node], element, node, path) }
            return list(items, element, node, path)
        case .matcher(let kind):
            let element = Shape.text(kind == .text ? .any : .term)
            guard case .list(let items) = node.content else { return list([node], element, node, path) }
            if items.isEmpty {
                findings.error(
                    node.position, "\(subject(path)) is an empty list, which matches nothing; remove the key")
                return nil
            }
            return list(items, element, node, path)
        case .object(let name):
            guard let fields = object(node, name, path: path) else { return nil }
            return Decoded(position: node.position, written: "", content: .fields(fields))
        case .map(let names, let values): return map(node, names, values, path)
        case .either(let single, let name):
            let words = if case .choice(let names) = single { names } else { [String]() }
            if case .map(let entries) = node.content {
                if let word = entries.first(where: { words.contains($0.key) }) {
                    findings.error(word.position, "\(subject(path)): \(word.key) takes no value; write it alone")
                    return nil
                }
                return decode(node, .object(name), path: path, keyPosition: keyPosition)
            }
            if !words.isEmpty, case .scalar(let written, _) = node.content,
                name.keys.contains(where: { $0.name == written })
            {
                findings.error(node.position, "\(subject(path)): \(written) takes a value, as in { \(written): VALUE }")
                return nil
            }
            return scalar(node, shape, path)
        case .json: return jsonTemplate(node)
        case .orNull(let shape): return decode(node, shape, path: path, keyPosition: keyPosition)
        default: return scalar(node, shape, path)
        }
    }

    private func list(_ items: [YAMLNode], _ element: Shape, _ node: YAMLNode, _ path: String) -> Decoded {
        let isOne = items.count == 1 && items[0].position == node.position
        let values = items.enumerated().map { index, item in
            decode(item, element, path: isOne ? path : "\(path)[\(index)]", keyPosition: item.position)
        }
        return Decoded(position: node.position, written: "", content: .list(values))
    }

    private func map(_ node: YAMLNode, _ names: TextFormat, _ values: Shape, _ path: String) -> Decoded? {
        guard case .map(let entries) = node.content else {
            findings.error(
                node.position, "\(subject(path)) takes names with values, such as { NAME: value }, found \(node.kind)")
            return nil
        }
        var fields = Fields(position: node.position)
        fields.all.reserveCapacity(entries.count)
        fields.written.reserveCapacity(entries.count)
        for entry in entries {
            fields.written.append(entry.key)
            guard names.accepts(entry.key) else {
                findings.error(
                    entry.position, "\(subject(path)) takes \(names.expected) as key, found \"\(shown(entry.key))\"")
                continue
            }
            guard let value = decode(entry.value, values, path: "\(path).\(entry.key)", keyPosition: entry.position)
            else { continue }
            fields.all.append(.init(name: entry.key, position: entry.position, value: value))
        }
        return Decoded(position: node.position, written: "", content: .fields(fields))
    }

    private func scalar(_ node: YAMLNode, _ shape: Shape, _ path: String) -> Decoded? {
        guard case .scalar(let written, _) = node.content else {
            findings.error(node.position, "\(subject(path)) takes \(shape.expectation()), found \(node.kind)")
            return nil
        }
        if case .secret(let kind) = shape {
            guard let secret = secrets.secret(written, kind, subject(path), at: node.position) else { return nil }
            return Decoded(position: node.position, written: shown(written), content: .secret(secret))
        }
        if case .template(let format) = shape { return template(written, format, node.position, path) }
        guard let text = secrets.resolve(written, at: node.position, isPublic: shape.isPublic) else { return nil }
        guard let content = content(text, written, shape, node.position, path) else { return nil }
        return Decoded(position: node.position, written: shown(written), content: content)
    }

    func content(
        _ text: String, _ written: String, _ shape: Shape, _ position: Position, _ path: String
    ) -> Decoded.Content? {
        func wrong(_ more: String = "", quotes: Bool = true) -> Decoded.Content? {
            let found = quotes ? ", found \"\(shown(written))\"" : ""
            findings.error(position, "\(subject(path)) takes \(shape.expectation())\(found)\(more)")
            return nil
        }
        func needsUnit(_ first: String, _ second: String) -> String {
            // the number itself may be a secret
            let number = written == text ? text : "5"
            return "; a number needs a unit, such as \(number)\(first) or \(number)\(second)"
        }
        func within(_ value: Int, _ range: ClosedRange<Int>) -> Decoded.Content? {
            range.contains(value) ? .number(value) : wrong()
        }
        switch shape {
        case .text(let format):
            let quotes = format.isQuotable && !written.utf8.contains(0x40)
            guard let text = converted(text, format, quotes ? written : nil, position, path) else { return nil }
            guard format.accepts(text) else {
                // the part before an @ is a name and a password
                let hasUser = written.utf8.contains(0x40) && !format.takesUser
                return wrong(
                    hasUser ? "; user names and passwords are not permitted" : "", quotes: format.isQuotable && !hasUser
                )
            }
            return .text(text)
        case .boolean, .either(.boolean, _):
            return text == "true" ? .flag(true) : text == "false" ? .flag(false) : wrong()
        case .integer(let range):
            guard let value = Int(text) else { return wrong() }
            return within(value, range)
        case .integerOr(let word, let range):
            if text == word { return .word }
            guard let value = Int(text) else { return wrong() }
            return within(value, range)
        case .choice(let names), .either(.choice(let names), _):
            if names.contains(text) { return .text(text) }
            var known = names
            if case .either(_, let object) = shape { known += object.keys.map(\.name) }
            findings.error(
                position, "\(subject(path)) takes \(shape.expectation()), found \"\(shown(written))\"",
                nearest: Nearest.name(to: text, among: known))
            return nil
        case .duration(let range):
            switch Units.read(text, Units.times) {
            case .value(let value): return within(value, range)
            case .bare: return wrong(needsUnit("s", "ms"))
            case .malformed: return wrong()
            case .tooLarge: return wrong("; that is too large")
            }
        case .size(let range, let orUnlimited):
            if orUnlimited, text == "unlimited" { return .word }
            switch Units.read(text, Units.sizes) {
            case .value(let value): return within(value, range)
            case .bare: return wrong(needsUnit("KiB", "B"))
            case .malformed: return wrong()
            case .tooLarge: return wrong("; that is too large")
            }
        case .either(let single, _): return content(text, written, single, position, path)
        default: return nil
        }
    }

    /// Converts the host in the text to ASCII; errors are recorded as findings.
    /// - Parameter shown: the written text; nil if it must not be quoted.
    private func converted(
        _ text: String, _ format: TextFormat, _ shown: String?, _ position: Position, _ path: String
    ) -> String? {
        do throws(InternationalName.Fault) {
            return try format.converted(text)
        } catch {
            let found = shown.map { ", found \"\(Findings.quoted($0))\"" } ?? ""
            findings.error(position, "\(subject(path)): the host \(error.words)\(found)")
            return nil
        }
    }

    // MARK: messages

    func subject(_ path: String) -> String { path.isEmpty ? "the file" : path }

    func shown(_ text: String) -> String { Findings.quoted(text) }
}
