public import Formats

/// One thing that `usher doctor` found out.
public struct Finding: Equatable, Sendable {
    public enum Verdict: String, Sendable {
        case ok, problem
        /// Good to know, and no problem by itself.
        case note
    }

    public let verdict: Verdict
    /// One sentence without a full stop.
    public let what: String
    /// What to do about it.
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
