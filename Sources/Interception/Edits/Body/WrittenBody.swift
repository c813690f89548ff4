internal import Declaration
internal import Formats

/// A body as the configuration writes it: as text, as JSON, as bytes or as the name of a file.
struct WrittenBody {
    var bytes: [UInt8] = []
    /// What it is made of for each exchange; nil where it is the same for all.
    var template: Template?
    /// What it is, where the configuration does not say; nil where it says of no body.
    var type: String?

    static let keys: [String: Key] = Dictionary(
        uniqueKeysWithValues: [
            Key("json", .json, "A body, written as JSON."),
            Key("text", .template(.any), "A body of plain text."),
            Key("body", .template(.any), "A body as it is."),
            Key("file", .text(.file), "A file with the body, read when the configuration is."),
        ].map { ($0.name, $0) })

    /// - Returns: nil where the file cannot be had; the reader has been told why.
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

    /// Those of the keys that were written.
    static func written(_ fields: Fields) -> [String] { ["json", "text", "body", "file"].filter(fields.has) }
}
