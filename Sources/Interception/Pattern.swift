internal import _StringProcessing

/// A regular expression of the configuration.
public struct Pattern: @unchecked Sendable {
    // Regex is not Sendable because it may carry transform closures; one compiled from text carries none and is never
    // mutated, so sharing it between loops is safe.
    let regex: Regex<AnyRegexOutput>
    public let text: String

    /// - Throws: the regex parser's own error, whose description names the place.
    public init(_ text: String) throws {
        self.text = text
        regex = try Regex(text)
    }
}
