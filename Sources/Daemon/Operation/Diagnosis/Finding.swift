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

    static func ok(_ what: String) -> Finding { Finding(.ok, what) }
    static func note(_ what: String, remedy: String? = nil) -> Finding { Finding(.note, what, remedy: remedy) }
    static func problem(_ what: String, remedy: String? = nil) -> Finding { Finding(.problem, what, remedy: remedy) }

    /// `problem  what  → remedy`
    public var line: String {
        verdict.rawValue.padded(to: 9) + what + (remedy.map { "  → \($0)" } ?? "")
    }

    public var json: JSONValue {
        ["verdict": .string(verdict.rawValue), "what": .string(what), "remedy": .optional(remedy)]
    }
}
