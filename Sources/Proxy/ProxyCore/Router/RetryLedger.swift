import HTTPCodec
import Interception

/// Counts an exchange's retries by interceptor and decides whether another is allowed.
struct RetryLedger {
    /// The state of the exchange that decides about a retry.
    struct Circumstances {
        let limits: Limits
        let clientHasEnded: Bool
        let isBodyKept: Bool
        let lacksRoom: Bool
        let method: Method
        /// The time after which no attempt may begin, in milliseconds of the loop's clock.
        let end: Int
        let now: Int
        /// Seconds since 1970.
        let seconds: Int
        /// The `Retry-After` field of the current response.
        let retryAfter: String?
    }

    /// A retry granted to an interceptor.
    struct Grant {
        let wish: RetryWish
        /// The number of the retry, and the most that the interceptor may have.
        let number: Int
        let most: Int
        /// The delay before the retry, in milliseconds.
        let wait: Int

        var event: LogEvent {
            .retried(interceptor: wish.interceptor, number: number, of: most, milliseconds: wait)
        }
    }

    private(set) var total = 0
    /// The interceptor that asked for the current attempt.
    private(set) var last: String?
    private var counts: [String: Int] = [:]

    /// Counts a retry that no interceptor asked for: the connection was stale, or a login has finished.
    mutating func enterUnasked() { total += 1 }

    /// Grants a retry to the first interceptor that wishes one and may have it.
    /// - Returns: nil when the response or the error stands.
    mutating func grant(
        _ wishes: [RetryWish], _ circumstances: Circumstances, _ log: inout ExchangeLog
    ) -> Grant? {
        if let reason = refusal(circumstances) {
            log.tell(.notRetried(interceptor: wishes.first?.interceptor, reason), circumstances.now)
            return nil
        }
        for wish in wishes {
            let number = counts[wish.interceptor, default: 0] + 1
            let wait = Self.wait(for: wish.policy, number, circumstances)
            if let reason = Self.refusal(of: wish, number, wait, circumstances) {
                log.tell(.notRetried(interceptor: wish.interceptor, reason), circumstances.now)
                continue
            }
            // the limit of all retries caps that of each interceptor
            let most = min(wish.policy.times, number - 1 + circumstances.limits.retries - total)
            total += 1
            last = wish.interceptor
            counts[wish.interceptor] = number
            return Grant(wish: wish, number: number, most: most, wait: wait)
        }
        return nil
    }

    /// The reason why the request must not be sent again.
    private func refusal(_ circumstances: Circumstances) -> String? {
        let limits = circumstances.limits
        if circumstances.clientHasEnded { return "the client has closed its side" }
        if total >= limits.retries { return "limits.retries allows \(limits.retries) further attempts" }
        if circumstances.isBodyKept { return nil }
        return circumstances.lacksRoom
            ? "limits.buffered left no room to keep the request's body"
            : "the request's body is larger than the \(limits.keptBody) bytes that are kept (limits.buffered_body)"
    }

    private static func refusal(
        of wish: RetryWish, _ number: Int, _ wait: Int, _ circumstances: Circumstances
    ) -> String? {
        if number > wish.policy.times { return "it has had all its \(wish.policy.times)" }
        if !wish.policy.repeatsAny, !circumstances.method.isIdempotent {
            return "it repeats idempotent methods alone; methods: any repeats others"
        }
        if circumstances.now + wait > circumstances.end {
            return "it would go out in \(wait) ms, past what timeouts.attempts allows"
        }
        return nil
    }

    /// The delay before a retry, in milliseconds.
    private static func wait(for policy: RetryPolicy, _ number: Int, _ circumstances: Circumstances) -> Int {
        if policy.heedsRetryAfter, let field = circumstances.retryAfter,
            let asked = RetryAfter.delay(field, now: circumstances.seconds, cap: policy.backoff.cap)
        {
            return asked
        }
        var chance = SystemRandomNumberGenerator()
        return policy.backoff.delay(after: number, chance: &chance)
    }
}

extension Attempt {
    /// Repeats the request if one of the interceptors that wish it has an attempt left.
    /// - Parameter response: the response to this attempt, if there is one.
    /// - Returns: false when the response or the error stands.
    mutating func again(
        _ wishes: [RetryWish], after response: borrowing ResponseHead, _ info: inout ExchangeInfo,
        clientHasEnded: Bool, _ out: inout CommandBuffer
    ) -> Bool {
        let settings = info.engine.settings
        let circumstances = RetryLedger.Circumstances(
            limits: settings.limits, clientHasEnded: clientHasEnded, isBodyKept: info.received.body.isKept,
            lacksRoom: info.received.body.lacksRoom, method: (basis?.head ?? info.received.head).method,
            end: info.log.capture.began + settings.timeouts.attempts, now: out.now, seconds: out.seconds,
            // only a response to this attempt may ask for a delay
            retryAfter: hasAnswered ? response.fields["Retry-After"] : nil)
        guard let grant = info.retries.grant(wishes, circumstances, &info.log) else { return false }
        // record this attempt before its response is discarded
        if hasAnswered {
            let capture = info.log.capture
            FlowWriter.writeAttempt(self, of: info, capture.answer ?? copy response, capture.answerBody, &out)
        }
        info.log.tell(grant.event, out.now)
        info.release(reusable: false, &out)
        renew(from: grant.wish.basis, keepsEdits: settings.chain.editsPersist)
        info.wait(.attempt, until: info.bounded(out.now + grant.wait), &out)
        return true
    }
}
