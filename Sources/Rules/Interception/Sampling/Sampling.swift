/// The share of matching exchanges that an interceptor takes. All settings must hold; `first` and `every` count the exchanges
/// that `percent` selects.
public struct Sampling: Equatable, Sendable {
    /// The percentage, selected at random.
    public var percent: Int
    /// Makes the selection reproducible; nil for a different one each time.
    public var seed: Int?
    /// Takes this many exchanges and then none; nil for no end.
    public var first: Int?
    /// Takes every n-th exchange: with 3 the third, the sixth and so on.
    public var every: Int

    public init(percent: Int = 100, seed: Int? = nil, first: Int? = nil, every: Int = 1) {
        self.percent = percent
        self.seed = seed
        self.first = first
        self.every = every
    }

    /// True if all exchanges are taken.
    public var isWhole: Bool { self == Sampling() }

    /// The form in the configuration.
    public var words: String {
        var words: [String] = []
        if percent != 100 { words.append("percent: \(percent)") }
        if let seed { words.append("seed: \(seed)") }
        if let first { words.append("first: \(first)") }
        if every != 1 { words.append("every: \(every)") }
        return words.joined(separator: ", ")
    }
}
