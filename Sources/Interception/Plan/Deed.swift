/// What an interceptor did to an exchange, as figures, the log and flows name it.
public enum Deed: String, CaseIterable, Sendable {
    /// It changed a message, or asked for something else in this list.
    case applied
    /// It was to change a body and could not.
    case failed
    case answered, aborted
    case delayed, throttled
    /// It had the request sent again, or could not.
    case retried
    case notRetried = "not_retried"
    /// At its limit: the request waited for its turn, or was refused.
    case waited, refused
    case loggedIn = "logged_in"
    /// Its fault took the place of an answer.
    case reset, empty, garbage
    case malformedStatus = "malformed_status"
    case malformedHeader = "malformed_header"
    case malformedLength = "malformed_length"
    case malformedChunk = "malformed_chunk"
    /// Its fault broke the end of an answer, or had it come late.
    case truncated
    case resetAfter = "reset_after"
    case slowClose = "slow_close"

    /// The client got no valid answer, or not all of one.
    public var isFault: Bool {
        switch self {
        case .reset, .empty, .garbage, .malformedStatus, .malformedHeader, .malformedLength, .malformedChunk,
            .truncated, .resetAfter, .slowClose:
            true
        default: false
        }
    }

    /// The exchange took longer for it.
    public var isSlow: Bool { self == .delayed || self == .throttled || self == .slowClose || self == .waited }
}

/// What is said of one interceptor: names only, never values.
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

/// A time that an interceptor has a message wait.
public struct DelayWish: Equatable, Sendable {
    public let interceptor: String
    public let time: Distribution
}

extension [DelayWish] {
    /// How long each of them has it wait, in milliseconds, drawn anew with every call: together no longer than may be.
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

extension ExchangeMoment {
    /// Whose doing it is, where it is an interceptor's.
    public var interceptor: String? { if case .logged(let name, _) = self { name } else { deed?.interceptor } }

    /// Where in the chain it did that.
    public var phase: PhaseJudgement.Phase? {
        switch self {
        case .edited(_, let phase), .warned(_, let phase): phase
        default: nil
        }
    }

    /// What an interceptor did.
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
