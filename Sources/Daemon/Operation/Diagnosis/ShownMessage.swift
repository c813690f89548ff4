import ContentCoding
import Formats
import HTTPCodec
import ProxyCore

/// A message for a person, without secrets and with a decoded body.
struct ShownMessage {
    let head: [String]
    /// Nil for a body that is not text.
    let body: [String]?
    let bytes: [UInt8]

    init(_ head: RequestHead, _ body: [UInt8], _ redaction: Redaction) {
        self.init("\(head.methodText) \(head.url)", head.fields, body, redaction)
    }

    init(_ head: ResponseHead, _ body: [UInt8], _ redaction: Redaction) {
        let reason = head.reason.isEmpty ? "" : " \(head.reason)"
        self.init("\(head.status)\(reason)", head.fields, body, redaction)
    }

    private init(_ start: String, _ fields: FieldTable, _ bytes: [UInt8], _ redaction: Redaction) {
        head = ([start] + fields.lines.map { "\($0.name): \($0.value)" }).map(redaction.text)
        body = Self.lines(fields, bytes, redaction)
        self.bytes = bytes
    }

    private static func lines(_ fields: FieldTable, _ bytes: [UInt8], _ redaction: Redaction) -> [String]? {
        guard let text = text(fields, bytes) else { return nil }
        if text.isEmpty { return [] }
        if let value = try? JSONValue(parsing: text) { return redaction.document(value).indented }
        return redaction.text(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Larger bodies are not decoded for display.
    private static let limits = CodingLimits(size: 1 << 20)

    /// The decoded body; nil if it is not text.
    static func text(_ fields: FieldTable, _ bytes: [UInt8]) -> String? {
        guard let plain = plain(fields, bytes), let text = String(validating: plain, as: UTF8.self) else { return nil }
        let isText = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) || $0 == "\n" || $0 == "\r" || $0 == "\t"
        }
        return isText ? text : nil
    }

    static func plain(_ fields: FieldTable, _ bytes: [UInt8]) -> [UInt8]? {
        guard let codings = try? Coding.list(in: fields) else { return nil }
        return codings.isEmpty ? bytes : try? BodyDecoder.decode(bytes, codings, limits)
    }

    /// All lines of the message.
    var lines: [String] {
        let body = body ?? ["(\(summary))"]
        return head.map { "  \($0)" } + (bytes.isEmpty ? [] : [""] + body.map { "  \($0)" })
    }

    // MARK: comparison

    /// The description of a body without visible lines.
    private var summary: String { bytes.count == 1 ? "a body of 1 byte" : "a body of \(bytes.count) bytes" }

    /// The difference to the message after the interceptors.
    func diff(_ after: ShownMessage, _ style: TextStyle) -> [String] {
        var lines = LineDiff(head, after.head).lines.map(style.line)
        if bytes == after.bytes {
            if !bytes.isEmpty { lines.append(style.faint("  (\(summary), unchanged)")) }
            return lines
        }
        lines.append("")
        guard let old = body, let new = after.body else {
            if !bytes.isEmpty { lines.append(style.bad("- (\(summary))")) }
            if !after.bytes.isEmpty { lines.append(style.good("+ (\(after.summary))")) }
            return lines
        }
        let diff = LineDiff(old, new)
        // different bytes with the same meaning
        if diff.isSame { return lines + [style.faint("  (\(summary), rewritten as \(after.summary))")] }
        return lines + diff.folded(around: 3).lines.map(style.line)
    }
}

extension JSONValue {
    /// One line per member and item.
    var indented: [String] {
        switch self {
        case .object(let members) where !members.isEmpty:
            let parts = members.map { member in
                Self.prefixed("\(JSONValue.string(member.name).serialized): ", member.value.indented)
            }
            return ["{"] + Self.joined(parts) + ["}"]
        case .array(let items) where !items.isEmpty:
            return ["["] + Self.joined(items.map(\.indented)) + ["]"]
        default: return [serialized]
        }
    }

    private static func prefixed(_ name: String, _ lines: [String]) -> [String] {
        [name + (lines.first ?? "")] + lines.dropFirst()
    }

    private static func joined(_ parts: [[String]]) -> [String] {
        parts.enumerated().flatMap { index, lines in
            var lines = lines.map { "  " + $0 }
            if index < parts.count - 1 { lines[lines.count - 1] += "," }
            return lines
        }
    }
}
