internal import Declaration
internal import Formats

/// One response of a `respond` edit.
struct WrittenAnswer: Sendable {
    static var keys: [Key] {
        [
            Key("status", .integer(200...599), "Status.", standard: "200"),
            Key("headers", .headers, "Headers.", standard: "{}"),
        ] + ["json", "text", "body", "file"].compactMap { WrittenBody.keys[$0] } + [
            Key("content_type", .text(.headerValue), "The content type of the body."),
            Key(
                "times", .integer(1...1_000_000_000),
                "Of several responses: the number of exchanges that get this one, from each reload on.", standard: "1"),
        ]
    }

    var response: DirectResponse
    /// The template of the body.
    private var template: Template?
    /// The number of consecutive exchanges that receive this response.
    private(set) var times = 1

    init(_ response: DirectResponse) { self.response = response }

    /// - Returns: nil if the value cannot be used. The reader has recorded the finding.
    init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        let findings = reader.findings
        let bodies = WrittenBody.written(fields)
        if bodies.count > 1 {
            findings.error(value.position, "a response has one body, found \(bodies.joined(separator: " and "))")
        }
        var answer = DirectResponse(status: fields.number("status") ?? 200)
        if !bodies.isEmpty, [204, 205, 304].contains(answer.status) {
            findings.error(value.position, "a response with status \(answer.status) has no body; remove \(bodies[0])")
        }
        reader.checkWritable(fields.fields("headers"))
        answer.headers = reader.pairs(fields.fields("headers")) { TemplatePlace(header: $0) }
        guard let body = WrittenBody(fields, reader) else { return nil }
        answer.body = body.bytes
        let hasType = answer.headers.contains { ASCII.equal($0.name, "Content-Type") }
        if hasType, fields.has("content_type") {
            findings.error(
                value.position, "the content type is given twice, in headers and in content_type; remove one")
        }
        if let type = fields.text("content_type") ?? body.type, !hasType {
            answer.headers.append(Pair("Content-Type", type))
        }
        response = answer
        template = body.template
        times = fields.number("times") ?? 1
    }

    var templates: [Template] { ([template] + response.headers.map(\.template)).compactMap { $0 } }

    /// Fills in the templates. A missing value leaves a gap in the body; a header with a missing value is left out.
    func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self {
        var filled = self
        filled.response.headers = try filler.pairs(response.headers, "header") ?? []
        if let template {
            filled.response.body = Array((try filler.text(template, "the body", lack: .empties) ?? "").utf8)
            filled.template = nil
        }
        return filled
    }
}
