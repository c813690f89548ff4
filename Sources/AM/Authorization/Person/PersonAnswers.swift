/// A person's answers to an open step. They are secret and never shown.
public struct PersonAnswers: Sendable {
    /// The texts by the callback's index in the page: one, or one for each input.
    public var callbacks: [Int: [String]]
    /// The link that continues a suspended tree.
    public var link: String?

    public init(_ callbacks: [Int: [String]] = [:], link: String? = nil) {
        self.callbacks = callbacks
        self.link = link
    }
}
