public import HTTPCodec

/// A change to a body, whichever side it comes from. It looks at no head: whoever makes it sees to the framing, to the
/// content codings and to the content type.
public protocol BodyEdit: Edit {
    /// False for a body whose type says that it cannot be changed so: it need not be kept then.
    func concerns(_ type: MediaType?) -> Bool
    /// True for a body whose type says that it is what the edit would make of it.
    func isDone(_ type: MediaType?) -> Bool
    /// Whether it makes a body where there is none, of a type that it concerns.
    var makesBody: Bool { get }

    /// Changes the body once, at its end, or not at all.
    /// - Returns: what it did, in a few words each; names only, never values.
    func apply(to body: inout EditedBody) throws(BodyFault) -> [String]
}

extension BodyEdit {
    public static var needs: EditNeed { .body }
    public var makesBody: Bool { false }
    public func concerns(_ type: MediaType?) -> Bool { true }
    public func isDone(_ type: MediaType?) -> Bool { false }

    /// The edit, or what is made of its fault.
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

/// What an edit of a body does to a message whose body is not there: nothing.
extension RequestEdit where Self: BodyEdit {
    public func apply(to head: inout RequestHead) -> EditEffect { .changed(["found no body for \(Self.name)"]) }
}

extension ResponseEdit where Self: BodyEdit {
    public func apply(to head: inout ResponseHead) -> EditEffect { .changed(["found no body for \(Self.name)"]) }
}

/// Why a body was not changed.
public enum BodyFault: Error, Equatable, Sendable {
    /// More of it came than is kept.
    case overLimit(Int)
    /// What others have kept leaves no room for it.
    case noRoom
    /// Completes "the body …": what it is not, or cannot be made.
    case unusable(String)

    public var explanation: String {
        switch self {
        case .overLimit(let limit): "is larger than the \(limit) bytes that are kept (limits.buffered_body)"
        case .noRoom: "found no room (limits.buffered)"
        case .unusable(let words): words
        }
    }
}

/// What becomes of a message whose body an edit cannot be made to.
public struct BodyPolicy: Equatable, Sendable {
    public enum Handling: String, CaseIterable, Sendable {
        /// It goes on as it is, with a warning.
        case pass
        case refuse
    }

    /// More of the body came than is kept.
    public var overLimit: Handling
    /// The body is not what the edit is for, such as JSON, or cannot be taken out of its content coding.
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
