public import Declaration
public import HTTPCodec
public import Interceptors

/// `swift`: an interceptor that is written in Swift, and registered under a name by the program.
public struct SwiftEdit: RequestEdit, ResponseEdit {
    public static let name = "swift"
    public static let mayStandIn = true
    public static let doc =
        "Runs an interceptor that is written in Swift, by the name under which the program registers it."
    public static let shape = Shape.textOr(
        .name,
        ObjectShape(
            "swift",
            [
                Key("name", .text(.name), "The name.", isRequired: true),
                Key(
                    "deadline", .duration(1...3_600_000),
                    "How long one that works off the loop may take; then the client gets 504.", standard: "10s"),
            ]))

    public static let standardDeadline = 10_000

    /// How it is called.
    enum Form: Sendable {
        case request(any RequestInterceptor)
        case asyncRequest(any AsyncRequestInterceptor)
        case response(any ResponseInterceptor)
        case asyncResponse(any AsyncResponseInterceptor)
    }

    /// Under which it is registered.
    public let registered: String
    /// In milliseconds.
    public let deadline: Int
    let form: Form
    let wantsBody: Bool

    /// - Returns: nil where the interceptor has no form for that phase.
    public init?(
        _ registered: String, _ interceptor: any Interceptor, in phase: EditPhase, deadline: Int = standardDeadline
    ) {
        guard let form = Form(interceptor, in: phase) else { return nil }
        self.registered = registered
        self.deadline = deadline
        self.form = form
        wantsBody = interceptor.wantsBody
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        let fields = value.fields
        guard let name = value.text ?? fields?.text("name") else { return nil }
        let position = fields?["name"]?.position ?? value.position
        guard let interceptor = reader.interceptors[name] else {
            let known = reader.interceptors.keys.sorted()
            let words = known.isEmpty ? "this program registers none" : "known: \(known.joined(separator: ", "))"
            reader.findings.error(
                position, "no interceptor is registered under \"\(Findings.quoted(name))\"; \(words)",
                nearest: Nearest.name(to: name, among: known))
            return nil
        }
        guard Form(interceptor, in: reader.phase) != nil else {
            let forms = reader.phase == .request ? "RequestInterceptor" : "ResponseInterceptor"
            reader.findings.error(
                position, "\"\(name)\" takes no \(reader.phase)s: it conforms to neither \(forms) nor Async\(forms)")
            return nil
        }
        self.init(
            name, interceptor, in: reader.phase, deadline: fields?.number("deadline") ?? Self.standardDeadline)
        guard isAsync || fields?.has("deadline") != true else {
            reader.findings.warning(
                fields?.position(of: "deadline") ?? position,
                "\"\(name)\" works on the loop, and is done as soon as it is called; remove deadline")
            return
        }
    }

    /// It works off the loop, and its phase waits for it.
    var isAsync: Bool {
        switch form {
        case .request, .response: false
        case .asyncRequest, .asyncResponse: true
        }
    }

    /// The body has to be here: it is asked for, or the response has to be held while somebody works on it.
    var needsBody: Bool { if case .asyncResponse = form { true } else { wantsBody } }

    public func apply(to head: inout RequestHead) -> EditEffect { .warned("\(registered) was not asked") }
    public func apply(to head: inout ResponseHead) -> EditEffect { .warned("\(registered) was not asked") }
}

extension SwiftEdit.Form {
    /// The form for a phase. One that returns at once goes before one that may wait.
    init?(_ interceptor: any Interceptor, in phase: EditPhase) {
        switch phase {
        case .request:
            if let now = interceptor as? any RequestInterceptor {
                self = .request(now)
            } else if let later = interceptor as? any AsyncRequestInterceptor {
                self = .asyncRequest(later)
            } else {
                return nil
            }
        case .response:
            if let now = interceptor as? any ResponseInterceptor {
                self = .response(now)
            } else if let later = interceptor as? any AsyncResponseInterceptor {
                self = .asyncResponse(later)
            } else {
                return nil
            }
        }
    }
}

extension Edit {
    /// It looks at a body, or has to have it held.
    var readsBody: Bool { self is any BodyEdit || (self as? SwiftEdit)?.needsBody == true }
}
