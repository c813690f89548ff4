internal import Formats
internal import HTTPCodec

/// Fills in the templates of one edit. If a value is missing or not allowed in its place, the edit's value is left out with a
/// warning. The message then keeps what it has.
public struct TemplateFiller {
    /// The current request; in the response phase, the request as it was sent.
    private let request: RequestHead
    private let response: ResponseHead?
    private let scope: ExchangeState.Scope
    private let policy: BodyPolicy
    var context: EditContext
    var bodies: SubjectBodies
    private(set) var warnings: [String] = []
    /// The reason why the last body could not be read.
    private var fault: BodyFault?

    init(
        _ context: EditContext, _ scope: ExchangeState.Scope, _ policy: BodyPolicy, request: RequestHead,
        response: ResponseHead? = nil, bodies: SubjectBodies
    ) {
        self.context = context
        self.scope = scope
        self.policy = policy
        self.request = request
        self.response = response
        self.bodies = bodies
    }

    /// The handling of a text with a missing value.
    enum Lack {
        /// The text is not written.
        case leaves
        /// The value is left empty, for text that must be written.
        case empties
    }

    /// - Parameter subject: the thing written, for messages: `header X-User`.
    /// - Returns: nil if it is not to be written.
    mutating func text(_ template: Template, _ subject: String, lack: Lack = .leaves) throws(EditFault) -> String? {
        let bound = template.place.isInHead ? TemplatePlace.longestInHead : context.bodyLimit
        var out = ""
        for part in template.parts {
            switch part {
            case .text(let text): out += text
            case .value(let source, let isQuoted):
                fault = nil
                if let value = try value(source) {
                    let written = template.place.written(
                        value, isQuoted: isQuoted, isAlone: template.parts.count == 1)
                    guard let written else { return unusable(subject, source) }
                    out += written
                } else if lack == .leaves {
                    warnings.append("did not write \(subject), for \(absence(of: source))")
                    return nil
                } else {
                    warnings.append("left a gap in \(subject), for \(absence(of: source))")
                }
            }
            guard out.utf8.count <= bound else {
                throw EditFault(reason: "the value for \(subject) would be longer than \(bound) bytes")
            }
        }
        guard template.place.accepts(out) else { return unusable(subject, template.sources.first) }
        return out
    }

    /// The parts of a log line. A missing value leaves a gap and is no fault.
    mutating func logged(_ template: Template) throws(EditFault) -> [LoggedPart] {
        var parts: [LoggedPart] = []
        for part in template.parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .value(let source, _):
                parts.append(try value(source).map { .value($0, origins(of: source)) } ?? .absent)
            }
        }
        return parts
    }

    func origins(of template: Template) -> [ValueOrigin] { template.sources.flatMap(origins) }

    private func origins(of source: TemplateSource) -> [ValueOrigin] {
        if case .state(let name) = source { return context.state?.origins(of: name, in: scope) ?? [] }
        return [source.origin].compactMap { $0 }
    }

    private func absence(of source: TemplateSource) -> String {
        guard let fault else { return "${\(source.name)} is not there" }
        return "the body with ${\(source.name)} \(fault.explanation)"
    }

    private mutating func unusable(_ subject: String, _ source: TemplateSource?) -> String? {
        warnings.append("did not write \(subject), for what ${\(source?.name ?? "")} has cannot stand there")
        return nil
    }

    /// The pairs that can be written; nil if there are none.
    mutating func pairs(_ pairs: [Pair], _ subject: String) throws(EditFault) -> [Pair]? {
        var filled: [Pair] = []
        for pair in pairs {
            guard let template = pair.template else {
                filled.append(pair)
                continue
            }
            guard let value = try text(template, "\(subject) \(pair.name)") else { continue }
            filled.append(Pair(pair.name, value))
        }
        return filled.isEmpty ? nil : filled
    }

    // MARK: values

    /// The value of a source; the first one of several.
    private mutating func value(_ source: TemplateSource) throws(EditFault) -> String? {
        switch source {
        case .uuid:
            var bytes: [UInt8] = []
            for _ in 0..<2 { withUnsafeBytes(of: context.chance.next()) { bytes += $0 } }
            return UUIDText.random(bytes)
        case .now: return CalendarTime(context.time).internet
        case .action: return context.classification?.action?.rawValue
        case .tree: return context.classification?.payload?.tree
        case .realm: return context.classification?.realm
        case .requestHeader(let name): return request.fields[name]
        case .requestQuery(let name): return request.query.flatMap { QueryText($0)[name] }
        case .requestJSON(let pointer):
            return try json(at: pointer, \.request, request.fields)
        case .responseStatus: return response.map { String($0.status) }
        case .responseHeader(let name): return response?.fields[name]
        case .responseJSON(let pointer):
            guard let response else { return nil }
            return try json(at: pointer, \.response, response.fields)
        case .state(let name): return context.state?[name, in: scope]
        }
    }

    /// The value at a pointer: a string as it is, other values as JSON writes them. Null counts as missing.
    private mutating func json(
        at pointer: JSONPointer, _ body: WritableKeyPath<SubjectBodies, EditedBody?>, _ fields: FieldTable
    ) throws(EditFault) -> String? {
        guard var read = bodies[keyPath: body] else { return nil }
        // moved rather than copied, so that the decoded body is kept
        bodies[keyPath: body] = nil
        defer { bodies[keyPath: body] = read }
        read.contentType = fields["Content-Type"]
        do throws(BodyFault) {
            // servers use the last member of a repeated name
            switch try read.values(at: pointer).last {
            case nil, .null: return nil
            case .string(let text): return text
            case .some(let value): return value.serialized
            }
        } catch {
            guard policy.passes(error) else { throw EditFault(reason: "the body \(error.explanation)") }
            fault = error
            return nil
        }
    }
}
