import HTTPCodec
import Interception

/// Further attempts that an exchange has had, at whose wish, and whether it may have another one.
struct RetryLedger {
    /// The exchange whose request would be sent again.
    struct Circumstances {
        let limits: Limits
        let clientHasEnded: Bool
        let isBodyKept: Bool
        let lacksRoom: Bool
        let method: Method
        /// When no attempt may begin any more, in milliseconds of the loop's clock.
        let end: Int
        let now: Int
        /// Since 1970.
        let seconds: Int
        /// The response at hand asks for another attempt then (`Retry-After`).
        let retryAfter: String?
    }

    /// An attempt that an interceptor may have.
    struct Grant {
        let wish: RetryWish
        /// Which of its attempts it is, and of how many.
        let number: Int
        let most: Int
        /// How long to wait before it, in milliseconds.
        let wait: Int
    }

    private(set) var total = 0
    /// Who asked for the one that is under way.
    private(set) var last: String?
    private var counts: [String: Int] = [:]

    /// One that no interceptor's retry asked for: the connection had gone stale, or a login was over.
    mutating func enterUnasked() { total += 1 }

    /// Gives an attempt to the first of those who wish for one that may have it.
    /// - Returns: nil where the answer, or what is there instead, stands.
    mutating func grant(
        _ wishes: [RetryWish], _ circumstances: Circumstances, _ notes: inout [ExchangeMoment]
    ) -> Grant? {
        if let reason = refusal(circumstances) {
            notes.append(.notRetried(interceptor: wishes.first?.interceptor, reason))
            return nil
        }
        for wish in wishes {
            let number = counts[wish.interceptor, default: 0] + 1
            let wait = Self.wait(for: wish.policy, number, circumstances)
            if let reason = Self.refusal(of: wish, number, wait, circumstances) {
                notes.append(.notRetried(interceptor: wish.interceptor, reason))
                continue
            }
            // no more than there are left for all
            let most = min(wish.policy.times, number - 1 + circumstances.limits.retries - total)
            total += 1
            last = wish.interceptor
            counts[wish.interceptor] = number
            return Grant(wish: wish, number: number, most: most, wait: wait)
        }
        return nil
    }

    /// Why nobody may have this exchange's request sent again.
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

    /// How long to wait before another attempt, in milliseconds.
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
