import Formats
import HTTPCodec

/// A message of a flow from the daemon.
struct StoredMessage {
    let fields: [(name: String, value: String)]
    /// The stored part of the body.
    let body: [UInt8]
    let isText: Bool
    let isCut: Bool
    /// The reason why it is not stored; empty if there is nothing to say.
    let comment: String
    let bytes: Int
    /// Requests only.
    let method: String
    let url: String
    /// Responses only; 0 for a request.
    let status: Int
    let version: String

    /// - Returns: nil for null.
    init?(_ value: JSONValue?) {
        guard let value, value.members != nil else { return nil }
        fields = (value["fields"]?.items ?? []).map { ($0["name"]?.text ?? "", $0["value"]?.text ?? "") }
        let body = value["body"]
        isText = body?["base64"] == nil
        self.body =
            if let text = body?["text"]?.text {
                Array(text.utf8)
            } else {
                body?["base64"]?.text.flatMap { Base64.decode($0) } ?? []
            }
        isCut = body?["cut"]?.isTrue ?? false
        comment = body?["comment"]?.text ?? ""
        bytes = body?["bytes"]?.integer ?? 0
        method = value["method"]?.text ?? ""
        url = value["url"]?.text ?? ""
        status = value["status"]?.integer ?? 0
        version = value["version"]?.text ?? ""
    }

    func value(_ name: String) -> String? { fields.first { ASCII.equal($0.name, name) }?.value }
    func has(_ name: String) -> Bool { value(name) != nil }

    var startLine: String {
        // with the whole URL, which alone tells http from https
        guard status != 0 else { return "\(method) \(url) \(version)" }
        let reason = ReasonPhrase.of(status)
        return "\(version) \(status)" + (reason.isEmpty ? "" : " \(reason)")
    }

    /// The message as sent, except for a body that was decoded for storage.
    var http: [UInt8] {
        var out = Array("\(startLine)\r\n".utf8)
        for field in fields { out += "\(field.name): \(field.value)\r\n".utf8 }
        return out + "\r\n".utf8 + body
    }

    // MARK: lines

    /// The longest displayed line, in characters.
    private static let most = 2000

    private static func shown(_ line: some StringProtocol) -> String {
        let line = TerminalText.lines(String(line))
        let count = line.unicodeScalars.count
        guard count > most else { return line }
        return String(String.UnicodeScalarView(line.unicodeScalars.prefix(most))) + "… (\(count - most) more)"
    }

    var headLines: [String] {
        let start = status == 0 ? "\(method) \(url)" : startLine
        return ([start] + fields.map { "\($0.name): \($0.value)" }).map(Self.shown)
    }

    /// The body's lines. JSON has one line per member.
    var bodyLines: [String] {
        if !comment.isEmpty { return ["(\(bytes) bytes; \(comment))"] }
        guard !body.isEmpty else { return isCut || bytes > 0 ? ["(\(bytes) bytes, not stored)"] : [] }
        guard isText else { return ["(\(size), not text)"] }
        let text = String(decoding: body, as: UTF8.self)
        var lines: [String]
        if let value = try? JSONValue(parsing: text), value.members != nil || value.items != nil {
            lines = value.indented.map(Self.shown)
        } else {
            lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map {
                Self.shown(String(Substring($0)).filter { $0 != "\r" })
            }
            if lines.last == "" { lines.removeLast() }
        }
        return isCut ? lines + ["(cut off here; it had \(bytes) bytes)"] : lines
    }

    private var size: String { body.count == 1 ? "1 byte" : "\(body.count) bytes" }

    var lines: [String] {
        let body = bodyLines
        return headLines + (body.isEmpty ? [] : [""] + body)
    }
}
