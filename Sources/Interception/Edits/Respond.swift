public import Declaration
import Formats
public import HTTPCodec

/// `respond`.
public struct Respond: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "respond"
    public static let doc = "Answers in the origin's place."
    public static let shape = Shape.object(
        ObjectShape(
            "local_answer",
            [
                Key("status", .integer(200...599), "Status.", standard: "200"),
                Key("headers", .headers, "Headers.", standard: "{}"),
            ] + ["json", "text", "body", "file"].compactMap { WrittenBody.keys[$0] } + [
                Key("content_type", .text(.headerValue), "Content type of the body.")
            ]))
    public static let needs = EditNeed.nothing
    public static let isLast = true

    public let answer: DirectResponse
    /// Of its body.
    private let template: Template?

    public init(_ answer: DirectResponse) { self.init(answer, nil) }

    private init(_ answer: DirectResponse, _ template: Template?) {
        self.answer = answer
        self.template = template
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields else { return nil }
        let findings = reader.findings
        let bodies = WrittenBody.written(fields)
        if bodies.count > 1 {
            findings.error(value.position, "an answer has one body, found \(bodies.joined(separator: " and "))")
        }
        var answer = DirectResponse(status: fields.number("status") ?? 200)
        if !bodies.isEmpty, [204, 205, 304].contains(answer.status) {
            findings.error(value.position, "an answer with status \(answer.status) has no body; remove \(bodies[0])")
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
        self.init(answer, body.template)
    }

    public var templates: [Template] { ([template] + answer.headers.map(\.template)).compactMap { $0 } }

    /// An answer is given in any case: what is missing of its body leaves a gap, what is missing of a header leaves that out.
    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        var filled = answer
        filled.headers = try filler.pairs(answer.headers, "header") ?? []
        if let template {
            filled.body = Array((try filler.text(template, "the body", lack: .empties) ?? "").utf8)
        }
        return Self(filled)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect { .respond(try answer.checked()) }
    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect { .respond(try answer.checked()) }
    public func apply() throws(EditFault) -> EditEffect { .respond(try answer.checked()) }
}

extension Edit where Self == Respond {
    public static func respond(_ answer: DirectResponse) -> Self { Respond(answer) }
}
