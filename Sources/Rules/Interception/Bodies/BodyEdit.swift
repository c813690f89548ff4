public import HTTPCodec

/// A change to the body of a request or a response. It does not see the head: the caller handles framing, content codings and the
/// content type.
public protocol BodyEdit: Edit {
    /// False if a body of this type cannot be changed by the edit, so it need not be buffered.
    func concerns(_ type: MediaType?) -> Bool
    /// True if a body of this type already has the form that the edit produces.
    func isDone(_ type: MediaType?) -> Bool
    /// Whether the edit creates a body where there is none, of a type that it concerns.
    var makesBody: Bool { get }

    /// Changes the whole body once, or leaves it unchanged.
    /// - Returns: the changes, a few words each: names only, never values.
    func apply(to body: inout EditedBody) throws(BodyFault) -> [String]
}

extension BodyEdit {
    public static var needs: EditNeed { .body }
    public var makesBody: Bool { false }
    public func concerns(_ type: MediaType?) -> Bool { true }
    public func isDone(_ type: MediaType?) -> Bool { false }

    /// Applies the edit, or handles its fault according to the policy.
    func attempt(on body: inout EditedBody, _ policy: BodyPolicy) throws(EditFault) -> EditEffect {
        body.isAsked = true
        let concerns = concerns(body.type)
        if body.isEmpty, !(makesBody && concerns) { return .changed(["found no body for \(Self.name)"]) }
        if isDone(body.type) { return .changed([]) }
        guard concerns else {
            return .warned("\(Self.name) left the body as it is, which is \(body.contentType ?? "of no type")")
        }
        do throws(BodyFault) {
            return .changed(try apply(to: &body))
        } catch {
            guard policy.passes(error) else { throw EditFault(reason: "\(Self.name): the body \(error.explanation)") }
            return .warned("\(Self.name) left the body as it is, which \(error.explanation)")
        }
    }
}

/// A body edit does nothing to a message without a body.
extension RequestEdit where Self: BodyEdit {
    public func apply(to head: inout RequestHead) -> EditEffect { .changed(["found no body for \(Self.name)"]) }
}

extension ResponseEdit where Self: BodyEdit {
    public func apply(to head: inout ResponseHead) -> EditEffect { .changed(["found no body for \(Self.name)"]) }
}

/// The reason why a body was not changed.
public enum BodyFault: Error, Equatable, Sendable {
    /// The body is larger than the limit.
    case overLimit(Int)
    /// Other buffered bodies leave no room for it.
    case noRoom
    /// Completes "the body …".
    case unusable(String)

    public var explanation: String {
        switch self {
        case .overLimit(let limit): "is larger than the \(limit) bytes that are kept (limits.buffered_body)"
        case .noRoom: "found no room (limits.buffered)"
        case .unusable(let words): words
        }
    }
}

/// The handling of a message whose body an edit cannot change.
public struct BodyPolicy: Equatable, Sendable {
    public enum Handling: String, CaseIterable, Sendable {
        /// Passes the message on unchanged, with a warning.
        case pass
        case refuse
    }

    /// The body is larger than the limit.
    public var overLimit: Handling
    /// The body has another format, such as not JSON, or its content coding cannot be decoded.
    public var invalid: Handling

    public init(overLimit: Handling = .pass, invalid: Handling = .pass) {
        self.overLimit = overLimit
        self.invalid = invalid
    }

    func passes(_ fault: BodyFault) -> Bool {
        switch fault {
        case .overLimit, .noRoom: overLimit == .pass
        case .unusable: invalid == .pass
        }
    }
}
