internal import Formats
public import HTTPCodec
internal import Interception

/// AM's answer to a question about one resource.
public struct PolicyAnswer: Equatable, Sendable {
    /// Why an answer is none, one sentence. Nothing is granted by such a one.
    public struct Fault: Error, Equatable, Sendable {
        public enum Kind: Sendable {
            /// AM does not know the session that asked.
            case caller
            /// AM knows it, and it may not ask.
            case privilege
            /// The question itself is faulty to AM; as a rule the user's session is over.
            case question
            /// It cannot be made use of.
            case unusable
        }

        public var kind: Kind
        public var reason: String
    }

    /// The action that was asked about is allowed.
    public let allows: Bool
    /// AM would grant it after what it advises.
    public let isAdvised: Bool
    /// Milliseconds since 1970 at which the decision is to be asked for anew; nil for at once.
    public let expires: Int?

    /// - Throws: where the answer is no decision on what was asked.
    public init(_ answer: ResponseHead, _ body: [UInt8], to question: PolicyQuestion) throws(Fault) {
        guard answer.status == 200 else { throw Self.fault(answer.status, body) }
        guard body.count <= AdviceReader.maxBody, let decisions = PolicyDecision.list(body) else {
            throw Fault(kind: .unusable, reason: "AM's answer holds what is no policy decision")
        }
        guard decisions.count == 1, let decision = decisions.first else {
            throw Fault(
                kind: .unusable, reason: "AM's answer has \(LogText.count(decisions.count, "decision")) on one resource"
            )
        }
        guard Self.isSame(decision.resource, question.resource) else {
            throw Fault(
                kind: .unusable,
                reason: "AM decided on \(LogText.shown(Self.place(decision.resource))), which was not asked about")
        }
        allows = decision.allows(question.method)
        isAdvised = !allows && decision.hasAdvice
        // whoever may do something by grace of an advice, or of a transaction, may do it once
        expires = decision.hasAdvice ? nil : decision.expires
    }

    /// AM writes a resource as it was asked, but for the case of a host and a port that goes without saying.
    private static func isSame(_ told: String, _ asked: String) -> Bool {
        if told == asked { return true }
        guard let told = try? RequestHead(method: "GET", url: told),
            let asked = try? RequestHead(method: "GET", url: asked)
        else { return false }
        return told.originText == asked.originText && told.path == asked.path && told.query == asked.query
    }

    /// Without what may be secret.
    private static func place(_ url: String) -> String { String(url.prefix { $0 != "?" }) }

    private static func fault(_ status: Int, _ body: [UInt8]) -> Fault {
        let answer = try? JSONValue(parsing: body)
        let words = answer?["message"]?.text.map { ": \(LogText.shown($0))" } ?? ""
        return switch status {
        case 400:
            Fault(
                kind: .question,
                reason: "AM takes no such question (400\(words)): the session is over, or the policy set is unknown")
        case 401: Fault(kind: .caller, reason: "AM does not know the session that Usher asks with (401\(words))")
        case 403:
            Fault(
                kind: .privilege,
                reason: "AM does not let the session that Usher asks with evaluate policies (403\(words))")
        default: Fault(kind: .unusable, reason: "AM answered \(status)\(words)")
        }
    }
}
