/// Limits the cost of the search in one text. Otherwise a client's text could make it quadratic and delay other flows.
struct StepBudget: Sendable {
    private(set) var left: Int
    /// The steps for all texts so far. Each byte of a text counts as one step.
    private(set) var spent = 0

    /// Texts of programs take one or two steps for each byte.
    static let stepsPerByte = 12
    static let least = 512 << 10

    init() { left = Self.least }

    /// Begins another text.
    mutating func begin(_ bytes: Int) {
        left = max(Self.least, bytes * Self.stepsPerByte)
        spent += bytes
    }

    mutating func spend(_ steps: Int) {
        if isSpent { return }
        left -= steps
        spent += steps
    }

    /// True if the limit is exceeded, so that secrets may be left.
    var isSpent: Bool { left < 0 }
}
