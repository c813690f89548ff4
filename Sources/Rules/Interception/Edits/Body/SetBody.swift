public import Declaration

/// `set_body`.
public struct SetBody: RequestEdit, ResponseEdit, BodyEdit {
    public static let name = "set_body"
    public static let doc = "Replaces the whole body."
    public static let shape = Shape.object(
        ObjectShape(
            "new_body",
            ["text", "json", "file"].compactMap { WrittenBody.keys[$0] } + [
                Key("content_type", .text(.headerValue), "The content type of the body.")
            ]))

    public let bytes: [UInt8]
    /// The content type to set; nil keeps the existing one.
    public let contentType: String?
    /// The content type for a message that has none.
    private let ownType: String
    private let template: Template?

    public init(_ bytes: [UInt8], contentType: String? = nil) {
        self.init(bytes, contentType, "application/octet-stream")
    }

    private init(_ bytes: [UInt8], _ contentType: String?, _ ownType: String, _ template: Template? = nil) {
        self.bytes = bytes
        self.contentType = contentType
        self.ownType = ownType
        self.template = template
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        let written = WrittenBody.written(fields)
        if written.count != 1 {
            let found = written.isEmpty ? "none" : written.joined(separator: " and ")
            reader.findings.error(value.position, "set_body takes one of text, json and file, found \(found)")
        }
        guard let body = WrittenBody(fields, reader) else { return nil }
        let type = fields.text("content_type") ?? (fields.has("json") ? body.type : nil)
        self.init(body.bytes, type, body.type ?? "", body.template)
    }

    public var templates: [Template] { [template].compactMap { $0 } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        return try filler.text(template, "the body").map { Self(Array($0.utf8), contentType, ownType) }
    }

    public var makesBody: Bool { true }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        try body.replace(with: bytes)
        if let type = contentType ?? (body.contentType == nil ? ownType : nil) { body.contentType = type }
        return ["set the body"]
    }
}
