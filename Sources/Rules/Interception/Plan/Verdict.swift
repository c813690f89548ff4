public import HTTPCodec

/// The way in which a phase of the chain ended.
public enum Verdict: Equatable, Sendable {
    case proceed
    /// Respond in place of the origin.
    case respond(DirectResponse, interceptor: String)
    case abort(interceptor: String, reason: String)
    /// The environment does not allow what interceptors would do, and the request must not go on without it.
    case forbid(reason: String)
    /// Send the client no response, or an invalid one.
    case breaks(Breakage, interceptor: String)
    /// The phase waits for an interceptor and continues when it is done.
    case suspend(Suspension)

    /// The deed of the interceptor that ended the phase.
    var deed: Deed { if case .abort = self { .aborted } else { .applied } }
}

/// The rate at which an interceptor lets a body pass.
public struct ThrottleWish: Equatable, Sendable {
    public let interceptor: String
    /// In bytes per second.
    public let rate: Int
}

/// An interceptor's request for a retry.
public struct RetryWish: Equatable, Sendable {
    public let interceptor: String
    public let policy: RetryPolicy
    /// The request to retry with; nil for the client's request.
    public var basis: RetryBasis?
}

/// An interceptor's request for a timeout of the response head, in milliseconds.
public struct TimeoutWish: Equatable, Sendable {
    public let interceptor: String
    public let milliseconds: Int
}

/// The request that a retry starts from, in place of the client's.
public final class RetryBasis: Sendable, Equatable {
    public let head: RequestHead
    /// Nil if the body is unchanged.
    public let body: [UInt8]?

    init(_ head: RequestHead, _ body: [UInt8]?) {
        self.head = head
        self.body = body
    }

    public static func == (left: RetryBasis, right: RetryBasis) -> Bool { left === right }
}

/// The result of a phase.
public struct Outcome: Equatable, Sendable {
    public var verdict: Verdict = .proceed
    /// The effects of each interceptor that took part, for the record's events.
    public var changes: [RuleNote] = []
    /// Edits that could not be applied.
    public var warnings: [RuleNote] = []
    /// Set only by plans that explain themselves.
    public var judgement: PhaseJudgement?

    /// The interceptor that stopped the chain without ending the exchange.
    public var stopped: String?
    /// Lines for the log.
    public var logged: [LoggedText] = []
    /// The shortest requested timeout.
    public var timeout: TimeoutWish?
    /// Delays of the message. They add up.
    public var delays: [DelayWish] = []
    /// Limits of the body's rate, in bytes per second.
    public var throttles: [ThrottleWish] = []
    /// The slowest rate counts.
    public var rate: Int? { throttles.map(\.rate).min() }
    /// Limits that the request must pass before the verdict takes effect.
    public var limits: [LimitWish] = []
    /// Changes to the end of the client's response.
    public var ending = AnswerEnding()
    /// The failure to reach the origin that a fault pretends.
    public var lost: OriginFault?
    /// The size of the chunks of a whole body, if a body in chunks is wished.
    public var chunk: Int?
    /// Requests for a retry, in order of precedence, for a verdict of `proceed`.
    public var retries: [RetryWish] = []
    /// What the rules that applied need of an environment.
    var powers: Powers = []

    public init() {}

    /// Whether further interceptors run.
    var goesOn: Bool { verdict == .proceed && stopped == nil }
}
