/// An interceptor's effect on an exchange, as metrics, the log and flows name it.
public enum Deed: String, CaseIterable, Sendable {
    /// The interceptor changed a message or had another effect of this list.
    case applied
    /// The interceptor could not change a body.
    case failed
    case answered, aborted
    case delayed, throttled
    /// The request was sent again, or could not be.
    case retried
    case notRetried = "not_retried"
    /// At a limit, the request waited or was refused.
    case waited, refused
    case loggedIn = "logged_in"
    /// A fault replaced the response.
    case reset, empty, garbage
    case malformedStatus = "malformed_status"
    case malformedHeader = "malformed_header"
    case malformedLength = "malformed_length"
    case malformedChunk = "malformed_chunk"
    /// A fault truncated or delayed the end of a response.
    case truncated
    case resetAfter = "reset_after"
    case slowClose = "slow_close"

    /// True if the client got no valid response, or only part of one.
    public var isFault: Bool {
        switch self {
        case .reset, .empty, .garbage, .malformedStatus, .malformedHeader, .malformedLength, .malformedChunk,
            .truncated, .resetAfter, .slowClose:
            true
        default: false
        }
    }

    /// True if the interceptor delayed the exchange.
    public var isSlow: Bool { self == .delayed || self == .throttled || self == .slowClose || self == .waited }
}

/// A note about one interceptor: names only, never values.
public struct RuleNote: Equatable, Sendable {
    public let interceptor: String
    public let words: String
    public let deed: Deed

    public init(_ interceptor: String, _ words: String, _ deed: Deed = .applied) {
        self.interceptor = interceptor
        self.words = words
        self.deed = deed
    }
}

/// A delay requested by an interceptor.
public struct DelayWish: Equatable, Sendable {
    public let interceptor: String
    public let time: Distribution
}

extension [DelayWish] {
    /// Draws a delay in milliseconds for each entry, anew with every call. Their sum is at most `Distribution.longest`.
    public func drawn() -> [(interceptor: String, milliseconds: Int)] {
        guard !isEmpty else { return [] }
        var chance = SystemRandomNumberGenerator()
        var left = Distribution.longest
        return map { wish in
            let wait = Swift.min(wish.time.draw(&chance), left)
            left -= wait
            return (wish.interceptor, wait)
        }
    }
}

extension Breakage {
    var deed: Deed {
        switch self {
        case .reset: .reset
        case .empty: .empty
        case .garbage: .garbage
        case .malformedStatus: .malformedStatus
        case .malformedHeader: .malformedHeader
        case .malformedLength: .malformedLength
        case .malformedChunk: .malformedChunk
        }
    }
}

extension LogEvent {
    /// The name of the interceptor that caused the event, if any.
    public var interceptor: String? { if case .logged(let name, _) = self { name } else { deed?.interceptor } }

    /// The phase in which it happened.
    public var phase: PhaseJudgement.Phase? {
        switch self {
        case .edited(_, let phase), .warned(_, let phase): phase
        default: nil
        }
    }

    /// The interceptor and its effect.
    public var deed: (interceptor: String, deed: Deed)? {
        switch self {
        case .edited(let note, _): (note.interceptor, note.deed)
        case .warned(let note, _): (note.interceptor, .failed)
        case .responded(let name, _): (name, .answered)
        case .delayed(let name, _): (name, .delayed)
        case .throttled(let name, _): (name, .throttled)
        case .retried(let name, _, _, _): (name, .retried)
        case .notRetried(let name?, _): (name, .notRetried)
        case .queued(let name): (name, .waited)
        case .refused(let name, _): (name, .refused)
        case .broken(let name, let breakage): (name, breakage.deed)
        case .cutShort(let cut): (cut.interceptor, cut.resets ? .resetAfter : .truncated)
        case .endDelayed(let name, _): (name, .slowClose)
        case .login(let name, _): (name, .loggedIn)
        default: nil
        }
    }
}
