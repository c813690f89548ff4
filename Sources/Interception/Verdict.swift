public import HTTPCodec

/// How a phase of the chain ended.
public enum Verdict: Equatable, Sendable {
    case proceed
    /// Answer in the origin's place.
    case respond(DirectResponse, interceptor: String)
    case abort(interceptor: String, reason: String)
    /// The client gets no answer, or none that is valid.
    case breaks(Breakage, interceptor: String)
    /// The phase has not come to its end: it waits for an interceptor, and goes on where that is done.
    case suspend(Suspension)
}

/// That an interceptor wants the request sent again.
public struct RetryWish: Equatable, Sendable {
    public let interceptor: String
    public let policy: RetryPolicy
    /// What the attempt begins with; nil where that is what the client sent.
    public var basis: RetryBasis?
}

/// What a further attempt begins with in the place of what the client sent.
public final class RetryBasis: Sendable, Equatable {
    public let head: RequestHead
    /// Nil where the body stays.
    public let body: [UInt8]?

    init(_ head: RequestHead, _ body: [UInt8]?) {
        self.head = head
        self.body = body
    }

    public static func == (left: RetryBasis, right: RetryBasis) -> Bool { left === right }
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

    /// The message waits as long as all of them together say.
    public var delays: [Distribution] = []
    /// Its body passes no faster than so many bytes a second.
    public var throttle: Int?
    /// Those that the request has to pass before anything comes of the verdict.
    public var limits: [LimitWish] = []
    /// How the answer ends that the client gets.
    public var ending = AnswerEnding()
    /// Who wants the request sent again, and is heard in this order; where the verdict is to proceed.
    public var retries: [RetryWish] = []

    public init() {}

    /// How long the message waits, in milliseconds: drawn anew with every call.
    public func wait() -> Int {
        guard !delays.isEmpty else { return 0 }
        var chance = SystemRandomNumberGenerator()
        return min(delays.reduce(0) { $0 + $1.draw(&chance) }, Distribution.longest)
    }
}
