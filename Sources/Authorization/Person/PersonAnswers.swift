/// What a person said to an open step. Secrets: nothing of it is ever shown.
public struct PersonAnswers: Sendable {
    /// By the callback's place in the page: a text, or one for each of its parts.
    public var callbacks: [Int: [String]]
    /// The link by which a suspended tree goes on.
    public var link: String?

    public init(_ callbacks: [Int: [String]] = [:], link: String? = nil) {
        self.callbacks = callbacks
        self.link = link
    }
}
