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

    /// Of whoever ended the phase so.
    var deed: Deed { if case .abort = self { .aborted } else { .applied } }
}

/// How fast an interceptor lets a body pass.
public struct ThrottleWish: Equatable, Sendable {
    public let interceptor: String
    /// Bytes a second.
    public let rate: Int
}

/// That an interceptor wants the request sent again.
public struct RetryWish: Equatable, Sendable {
    public let interceptor: String
    public let policy: RetryPolicy
    /// What the attempt begins with; nil where that is what the client sent.
    public var basis: RetryBasis?
}

/// That an interceptor wants a request given up whose answer has not begun after so many milliseconds.
public struct TimeoutWish: Equatable, Sendable {
    public let interceptor: String
    public let milliseconds: Int
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
    /// What each interceptor that took part did, for the record's events.
    public var changes: [RuleNote] = []
    /// The same of edits that were asked for and could not be made.
    public var warnings: [RuleNote] = []
    /// Of a plan that explains itself alone.
    public var judgement: PhaseJudgement?

    /// The interceptor behind which none was asked, though the message goes on.
    public var stopped: String?
    /// Lines for the log.
    public var logged: [LoggedText] = []
    /// When the request is given up that has no answer; the shortest of those that were asked for.
    public var timeout: TimeoutWish?
    /// The message waits as long as all of them together say.
    public var delays: [DelayWish] = []
    /// Its body passes no faster than so many bytes a second.
    public var throttles: [ThrottleWish] = []
    /// The slowest of them counts.
    public var rate: Int? { throttles.map(\.rate).min() }
    /// Those that the request has to pass before anything comes of the verdict.
    public var limits: [LimitWish] = []
    /// How the answer ends that the client gets.
    public var ending = AnswerEnding()
    /// Who wants the request sent again, and is heard in this order; where the verdict is to proceed.
    public var retries: [RetryWish] = []

    public init() {}

    /// Further interceptors are asked.
    var goesOn: Bool { verdict == .proceed && stopped == nil }
}
