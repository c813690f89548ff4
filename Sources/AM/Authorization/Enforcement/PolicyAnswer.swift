internal import Formats
public import HTTPCodec

/// AM's decision on one resource.
public struct PolicyAnswer: Equatable, Sendable {
    /// The reason why a response holds no usable decision, as one sentence. Nothing is granted then.
    public struct Fault: Error, Equatable, Sendable {
        public enum Kind: Sendable {
            /// AM does not know the session that asked.
            case caller
            /// The session that asked lacks the privilege.
            case privilege
            /// AM rejects the question; usually the user's session has ended.
            case question
            /// The response is unusable.
            case unusable
        }

        public var kind: Kind
        public var reason: String
    }

    /// True if the decision allows the requested action.
    public let allows: Bool
    /// True if AM would grant access after a step-up.
    public let isAdvised: Bool
    /// The expiry of the decision in milliseconds since 1970; nil if it must not be cached.
    public let expires: Int?

    /// - Throws: a fault if the response is no decision on the question.
    public init(_ answer: ResponseHead, _ body: [UInt8], to question: PolicyQuestion) throws(Fault) {
        guard answer.status == 200 else { throw Self.fault(answer.status, body) }
        guard body.count <= AdviceReader.maxBody, let decisions = PolicyDecision.list(body) else {
            throw Fault(kind: .unusable, reason: "AM's response is not a policy decision")
        }
        guard decisions.count == 1, let decision = decisions.first else {
            let count = LogText.count(decisions.count, "decision")
            throw Fault(kind: .unusable, reason: "AM's response has \(count) on one resource")
        }
        guard Self.isSame(decision.resource, question.resource) else {
            throw Fault(
                kind: .unusable,
                reason: "AM decided on \(LogText.shown(Self.place(decision.resource))), which was not asked about")
        }
        allows = decision.allows(question.method)
        isAdvised = !allows && decision.hasAdvice
        // access through an advice or a transaction is good for one request
        expires = decision.hasAdvice ? nil : decision.expires
    }

    /// AM repeats the resource, but may change the case of the host and drop a default port.
    private static func isSame(_ told: String, _ asked: String) -> Bool {
        if told == asked { return true }
        guard let told = try? RequestHead(method: "GET", url: told),
            let asked = try? RequestHead(method: "GET", url: asked)
        else { return false }
        return told.originText == asked.originText && told.path == asked.path && told.query == asked.query
    }

    /// The URL without its query, which may be secret.
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
        default: Fault(kind: .unusable, reason: "AM responded with \(status)\(words)")
        }
    }
}
