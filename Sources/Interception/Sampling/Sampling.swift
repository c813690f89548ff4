/// Which of the exchanges that fit an interceptor it takes. What is asked for has to hold together, and `first` and `every`
/// count what chance has chosen.
public struct Sampling: Equatable, Sendable {
    /// So many of a hundred, by chance.
    public var percent: Int
    /// The same ones are taken wherever chance begins with this; nil for another choice each time.
    public var seed: Int?
    /// So many, and none after them; nil for no end.
    public var first: Int?
    /// Each one behind so many less one: with 3 the third, the sixth and so on.
    public var every: Int

    public init(percent: Int = 100, seed: Int? = nil, first: Int? = nil, every: Int = 1) {
        self.percent = percent
        self.seed = seed
        self.first = first
        self.every = every
    }

    /// Takes all there are.
    public var isWhole: Bool { self == Sampling() }

    /// As the configuration writes it.
    public var words: String {
        var words: [String] = []
        if percent != 100 { words.append("percent: \(percent)") }
        if let seed { words.append("seed: \(seed)") }
        if let first { words.append("first: \(first)") }
        if every != 1 { words.append("every: \(every)") }
        return words.joined(separator: ", ")
    }
}
