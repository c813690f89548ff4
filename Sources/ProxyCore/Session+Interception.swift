import HTTPCodec
import Interception

/// The interceptors' two phases, for the client's exchange and for Usher's own calls alike.
extension Session {
    /// Runs the request phase on a head that is about to go out. What happened is noted.
    mutating func intercept(_ head: inout RequestHead) -> Verdict {
        guard let first = engine.plan.firstRequestMatch(head, classification) else { return .proceed }
        return told(engine.plan.applyRequest(from: first, to: &head, classification))
    }

    /// Runs the response phase on the head of an answer to `sent`.
    mutating func intercept(_ response: inout ResponseHead, to sent: RequestHead) -> Verdict {
        guard let first = engine.plan.firstResponseMatch(response, request: sent, classification) else {
            return .proceed
        }
        return told(engine.plan.applyResponse(from: first, to: &response, request: sent, classification))
    }

    private mutating func told(_ outcome: Outcome) -> Verdict {
        for change in outcome.changes { note(.interceptor, change) }
        if case .respond(let local, let interceptor) = outcome.verdict {
            note(.interceptor, "\(interceptor): answered with status \(local.status)")
        }
        return outcome.verdict
    }
}
