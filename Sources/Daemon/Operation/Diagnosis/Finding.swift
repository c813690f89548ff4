public import Formats

/// A finding of `usher doctor`.
public struct Finding: Equatable, Sendable {
    public enum Verdict: String, Sendable {
        case ok, problem
        /// Information without a problem.
        case note
    }

    public let verdict: Verdict
    /// One sentence without a full stop.
    public let what: String
    /// The remedy.
    public let remedy: String?

    public init(_ verdict: Verdict, _ what: String, remedy: String? = nil) {
        self.verdict = verdict
        self.what = what
        self.remedy = remedy
    }

    /// `problem  what  → remedy`
    public var line: String {
        let word = verdict.rawValue
        let space = String(repeating: " ", count: 9 - word.count)
        return word + space + what + (remedy.map { "  → \($0)" } ?? "")
    }

    public var json: JSONValue {
        .object([
            .init("verdict", .string(verdict.rawValue)), .init("what", .string(what)),
            .init("remedy", remedy.map(JSONValue.string) ?? .null),
        ])
    }
}
