internal import Declaration
internal import Formats

/// A body as the configuration gives it: text, JSON, bytes or a file name.
struct WrittenBody {
    var bytes: [UInt8] = []
    /// The template that each exchange fills in; nil for a constant body.
    var template: Template?
    /// The default content type; nil if the configuration gives no body.
    var type: String?

    static let keys: [String: Key] = Dictionary(
        uniqueKeysWithValues: [
            Key("json", .json, "A body in JSON."),
            Key("text", .template(.any), "A body of plain text."),
            Key("body", .template(.any), "A body of any type."),
            Key("file", .text(.file), "A file with the body, read with the configuration."),
        ].map { ($0.name, $0) })

    /// - Returns: nil if the file cannot be read. The reader has recorded the finding.
    init?(_ fields: Fields, _ reader: RuleReader) {
        if let json = fields["json"] {
            json.json?.write(to: &bytes)
            template = reader.template(json, .json)
            type = "application/json"
        } else if let text = fields["text"] {
            bytes = Array((text.text ?? "").utf8)
            template = reader.template(text, .text)
            type = "text/plain; charset=utf-8"
        } else if let text = fields["body"] {
            bytes = Array((text.text ?? "").utf8)
            template = reader.template(text, .text)
            type = "application/octet-stream"
        } else if let file = fields["file"] {
            guard let content = reader.file(file) else { return nil }
            bytes = content
            type = "application/octet-stream"
        }
    }

    /// The keys that are present.
    static func written(_ fields: Fields) -> [String] { ["json", "text", "body", "file"].filter(fields.has) }
}
