/// A step of a tree that waits for a person.
public struct OpenStep: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The callbacks of a page without a configured answer.
        case callbacks([OpenCallback])
        /// The tree continues through a link that AM sent to the user. The message is AM's.
        case suspended(message: String)
    }

    public var kind: Kind
    /// The page's stage, if any.
    public var stage: String
    /// The page's header, if any.
    public var header: String
    /// The page's description, the texts of its output callbacks, terms, and the URIs of its QR codes.
    public var messages: [String] = []
    /// True if AM asks again after an answer, so it did not accept it.
    public var isAgain = false
    /// The required target of a link that continues the tree.
    var links: SuspendedLink.Place?

    public init(_ kind: Kind, stage: String = "", header: String = "") {
        self.kind = kind
        self.stage = stage
        self.header = header
    }

    /// The reason why an answer is invalid, worded for the person. The step stays open.
    public struct Refusal: Error, Equatable, Sendable {
        public let reason: String

        public init(_ reason: String) { self.reason = reason }
    }

    public var callbacks: [OpenCallback] {
        switch kind {
        case .callbacks(let callbacks): callbacks
        case .suspended: []
        }
    }

    public var isSuspended: Bool { if case .suspended = kind { true } else { false } }

    /// The requested input for a list, such as `PasswordCallback` or `a link`.
    public var summary: String {
        isSuspended ? "a link" : callbacks.map { LogText.shown($0.type) }.joined(separator: ", ")
    }

    /// The first invalid answer: to a callback that is not open, or of the wrong form. Answers may still be missing. Answers
    /// without a refusal are sent to AM.
    public func refusal(of answers: PersonAnswers) -> Refusal? {
        if isSuspended {
            guard answers.callbacks.isEmpty else {
                return Refusal("the tree goes on by the link that was sent; give that")
            }
            guard let link = answers.link, let links else { return nil }
            do throws(Refusal) { _ = try SuspendedLink(link, links) } catch { return error }
            return nil
        }
        guard answers.link == nil else { return Refusal("no link is waited for; it asks for \(summary)") }
        for (index, texts) in answers.callbacks.sorted(by: { $0.key < $1.key }) {
            guard let callback = callbacks.first(where: { $0.index == index }) else {
                return Refusal("nothing is asked at place \(index); it asks for \(summary)")
            }
            if let reason = callback.refusal(of: texts) { return Refusal(reason) }
        }
        return nil
    }

    /// The callbacks without an answer; empty if the step waits for a link.
    public func missing(in answers: PersonAnswers) -> [OpenCallback] {
        callbacks.filter { answers.callbacks[$0.index] == nil }
    }

    /// True if no more input is needed.
    public func isAnswered(by answers: PersonAnswers) -> Bool {
        isSuspended ? answers.link != nil : missing(in: answers).isEmpty
    }
}
