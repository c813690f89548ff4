/// How a phase of the chain ended.
public enum Verdict: Equatable, Sendable {
    case proceed
    /// Answer in the origin's place.
    case respond(DirectResponse, interceptor: String)
    case abort(interceptor: String, reason: String)
}

/// What a phase of the chain did.
public struct Outcome: Equatable, Sendable {
    public var verdict: Verdict = .proceed
    /// One sentence per interceptor that took part, names of fields only, for the record's events.
    public var changes: [String] = []
    /// The same of edits that were asked for and could not be made.
    public var warnings: [String] = []
    /// Of a plan that explains itself alone.
    public var judgement: PhaseJudgement?

    public init() {}
}
