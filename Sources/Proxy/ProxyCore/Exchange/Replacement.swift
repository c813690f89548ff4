import HTTPCodec
import Interception

/// What an interceptor puts in the place of a message.
enum Replacement {
    case respond(DirectResponse, interceptor: String)
    /// Break the client's connection.
    case breaks(Breakage, interceptor: String)
    case abort(interceptor: String, reason: String)
    case forbid(reason: String)

    /// Nil if the message proceeds.
    init?(_ verdict: Verdict) {
        switch verdict {
        case .proceed, .suspend: return nil
        case .respond(let local, let interceptor): self = .respond(local, interceptor: interceptor)
        case .breaks(let breakage, let interceptor): self = .breaks(breakage, interceptor: interceptor)
        case .abort(let interceptor, let reason): self = .abort(interceptor: interceptor, reason: reason)
        case .forbid(let reason): self = .forbid(reason: reason)
        }
    }
}

extension ExchangeLog {
    /// What takes the place of the message, and after how many milliseconds; nil if the message proceeds.
    mutating func replacement(by outcome: borrowing Outcome, _ now: Int) -> (Replacement, after: Int)? {
        guard let replacement = Replacement(outcome.verdict) else { return nil }
        switch replacement {
        case .abort, .forbid: return (replacement, 0)
        case .respond, .breaks: return (replacement, drawn(outcome.delays, now))
        }
    }
}
