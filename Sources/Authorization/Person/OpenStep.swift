/// A step of a tree that waits for a person.
public struct OpenStep: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The callbacks of a page that nothing of the configuration answers.
        case callbacks([OpenCallback])
        /// The tree goes on by a link that AM sent to the user; AM's own words about it.
        case suspended(message: String)
    }

    public var kind: Kind
    /// What the tree calls its page, where it does.
    public var stage: String
    /// The page's own words, where it has any.
    public var header: String
    /// What it says beside that, in its description and in callbacks that nobody answers.
    public var messages: [String] = []
    /// AM has been told an answer to what it asks, and did not go on: it took none of it.
    public var isAgain = false
    /// Where a link has to lead by which the tree goes on.
    var links: SuspendedLink.Place?

    public init(_ kind: Kind, stage: String = "", header: String = "") {
        self.kind = kind
        self.stage = stage
        self.header = header
    }

    /// Why what a person said is no answer, in words for that person. The step stays open.
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

    /// What is asked for, for a list: `PasswordCallback`, `a link`.
    public var summary: String {
        isSuspended ? "a link" : callbacks.map { LogText.shown($0.type) }.joined(separator: ", ")
    }

    /// Looks at answers alone: an answer to something that is not asked, or that cannot be one. Some may be missing yet. What is not
    /// refused here is told to AM.
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

    /// The callbacks that these answers leave open; none where a link is what is waited for.
    public func missing(in answers: PersonAnswers) -> [OpenCallback] {
        callbacks.filter { answers.callbacks[$0.index] == nil }
    }

    /// Nothing more has to be said.
    public func isAnswered(by answers: PersonAnswers) -> Bool {
        isSuspended ? answers.link != nil : missing(in: answers).isEmpty
    }
}
