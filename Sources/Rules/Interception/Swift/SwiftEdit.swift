public import Declaration
public import HTTPCodec
public import Interceptors
public import Scripts

/// `swift`: a Swift interceptor that the program registers under a name.
public struct SwiftEdit: RequestEdit, ResponseEdit {
    public static let name = "swift"
    public static let mayStandIn = true
    public static let powers: Powers = [.edit, .mock]
    public static let doc =
        "Runs a Swift interceptor that the program registers under this name."
    public static let shape = Shape.either(
        .text(.name),
        ObjectShape(
            "swift",
            [
                Key("name", .text(.name), "The registered name.", isRequired: true),
                Key(
                    "deadline", .duration(1...3_600_000),
                    "The longest time for an asynchronous interceptor. After it, the client gets 504.", standard: "10s"),
            ]))

    public static let standardDeadline = 10_000

    /// The function to call.
    enum Form: Sendable {
        case request(any RequestInterceptor)
        case asyncRequest(any AsyncRequestInterceptor)
        case response(any ResponseInterceptor)
        case asyncResponse(any AsyncResponseInterceptor)
        case script(ScriptLine, EditPhase)
    }

    /// The registered name.
    public let registered: String
    /// In milliseconds.
    public let deadline: Int
    let form: Form
    let wantsBody: Bool
    /// Makes the interceptor anew; nil for one that the program registers.
    private let begin: (@Sendable () -> any RequestInterceptor)?

    /// - Returns: nil if the interceptor does not implement this phase.
    public init?(
        _ registered: String, _ interceptor: any Interceptor, in phase: EditPhase, deadline: Int = standardDeadline
    ) {
        guard let form = Form(interceptor, in: phase) else { return nil }
        self.registered = registered
        self.deadline = deadline
        self.form = form
        wantsBody = interceptor.wantsBody
        begin = nil
    }

    /// - Parameter begin: makes the interceptor with the state that it starts with.
    init?(_ registered: String, _ begin: @escaping @Sendable () -> any RequestInterceptor) {
        let interceptor = begin()
        guard let form = Form(interceptor, in: .request) else { return nil }
        self.registered = registered
        deadline = Self.standardDeadline
        self.form = form
        wantsBody = interceptor.wantsBody
        self.begin = begin
    }

    /// A script in place of a registered interceptor.
    init(_ script: ScriptLine, in phase: EditPhase) {
        registered = script.name
        // the script's own limit comes first
        deadline = script.terms.timeout + Self.scriptGrace
        form = .script(script, phase)
        wantsBody = script.terms.needs == .body
        begin = nil
    }

    private static let scriptGrace = 5_000

    /// The script that the edit asks, if it is one.
    public var script: ScriptLine? { if case .script(let line, _) = form { line } else { nil } }

    /// The name of what runs, for messages.
    public var subject: String { script == nil ? "swift \(registered)" : "script \(registered)" }

    public var restarted: Self { begin.flatMap { Self(registered, $0) } ?? self }

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
                "\"\(name)\" is synchronous, so deadline has no effect; remove it")
            return
        }
    }

    /// True if the interceptor runs off the loop and its phase waits.
    var isAsync: Bool {
        switch form {
        case .request, .response: false
        case .asyncRequest, .asyncResponse, .script: true
        }
    }

    /// True if the body must be buffered: the interceptor wants it, or the response has to be held while it works.
    var needsBody: Bool {
        switch form {
        case .asyncResponse, .script(_, .response): true
        default: wantsBody
        }
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .warned("\(registered) was not asked") }
    public func apply(to head: inout ResponseHead) -> EditEffect { .warned("\(registered) was not asked") }
}

extension SwiftEdit.Form {
    /// The form for a phase. A synchronous one takes precedence over an asynchronous one.
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
    /// True if the edit reads the body or needs it buffered.
    var readsBody: Bool { self is any BodyEdit || (self as? SwiftEdit)?.needsBody == true }
}
