import EventLoop
import ProxyCore
import TLSEngine

/// Checks passwords on threads of its own: a bcrypt takes tens of milliseconds, which no loop may wait. Shared by all
/// loops, so that guesses count wherever they arrive; asked only for what no loop remembers.
public final class Authenticator: Sendable {
    struct Answer: Sendable {
        let ticket: UInt64
        let verdict: PasswordVerdict
    }

    private struct Waiting: Sendable {
        let ticket: UInt64
        let reply: Mailbox<Answer>
    }

    private struct Question: Sendable {
        let check: PasswordCheck
        let digest: [UInt8]
    }

    private struct State: Sendable {
        var queue: [Question] = []
        /// Who waits for which password, those that are being checked included: many connections of one client show the
        /// same one at the same time, and it is one guess.
        var waiting: [[UInt8]: [Waiting]] = [:]
        var brake = GuessBrake()
        var hasThreads = false
    }

    private let state = Locked(State())
    private let digest = KeyedDigest()
    private let threads: Int
    /// Passwords that may wait to be checked.
    private static let longestQueue = 256

    /// Threads begin with the first question; without `clients.basic` there are none.
    public init(threads: Int = 2) { self.threads = max(1, threads) }

    /// What a password that was right is remembered by. The hash is in it: a password that was changed is checked anew.
    func digest(of check: PasswordCheck) -> [UInt8]? {
        // none of the parts holds a zero
        digest([check.isDecoy ? 1 : 0] + Array(check.hash.utf8) + [0] + Array(check.user.utf8) + [0] + check.password)
    }

    /// Has the password checked.
    /// - Returns: the verdict where it is known at once; else nil, and the answer comes with that ticket.
    func verify(
        _ check: PasswordCheck, digest: [UInt8], ticket: UInt64, reply: Mailbox<Answer>, now: Int
    ) -> PasswordVerdict? {
        guard start() else { return .busy }
        var verdict: PasswordVerdict?
        state.signal { state in
            let waiting = Waiting(ticket: ticket, reply: reply)
            if state.waiting[digest]?.append(waiting) != nil { return }
            guard state.queue.count < Self.longestQueue else { return verdict = .busy }
            if let wait = state.brake.take(check.client, now: now) { return verdict = .tooMany(wait: wait) }
            state.waiting[digest] = [waiting]
            state.queue.append(Question(check: check, digest: digest))
        }
        return verdict
    }

    /// False where the system has no thread to give.
    private func start() -> Bool {
        state.withLock { state in
            if state.hasThreads { return true }
            for number in 0..<threads {
                let thread = try? SystemThread(name: "password-\(number)") { [self] in while true { next() } }
                state.hasThreads = state.hasThreads || thread != nil
            }
            return state.hasThreads
        }
    }

    private func next() {
        let question = state.wait { state in state.queue.isEmpty ? nil : state.queue.removeFirst() }
        let check = question.check
        let isRight = PasswordHash.matches(check.password, check.hash) && !check.isDecoy
        let waiting = state.withLock { state in
            if isRight { state.brake.giveBack(check.client, now: Loop.monotonicMilliseconds()) }
            return state.waiting.removeValue(forKey: question.digest) ?? []
        }
        for one in waiting { one.reply.post(Answer(ticket: one.ticket, verdict: isRight ? .right : .wrong)) }
    }
}
