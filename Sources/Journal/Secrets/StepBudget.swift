/// What looking through one text for secrets may cost. Whoever writes the text could otherwise make it cost the square of its
/// length, and hold up what others want to be kept.
struct StepBudget: Sendable {
    private(set) var left: Int
    /// For all texts so far; to read a text takes a step a byte.
    private(set) var spent = 0

    /// Texts that programs write take one or two steps a byte.
    static let stepsPerByte = 12
    static let least = 512 << 10

    init() { left = Self.least }

    /// Another text begins.
    mutating func begin(_ bytes: Int) {
        left = max(Self.least, bytes * Self.stepsPerByte)
        spent += bytes
    }

    mutating func spend(_ steps: Int) {
        if isSpent { return }
        left -= steps
        spent += steps
    }

    /// What was found by then is not all that there is.
    var isSpent: Bool { left < 0 }
}
