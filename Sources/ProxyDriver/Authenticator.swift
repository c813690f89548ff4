import EventLoop
import HTTPCodec
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
        let guess: GuessBrake.Guess
        let isProven: Bool
    }

    private struct State: Sendable {
        var queue = CheckQueue<Question>()
        /// Who waits for which password, those that are being checked included: many connections of one client show the
        /// same one at the same time, and it is one guess.
        var waiting: [[UInt8]: [Waiting]] = [:]
        var brake = GuessBrake()
        /// Digests that were wrong: the same one shown again is no other guess. A program that was not told of a new password
        /// costs the others of its network nothing.
        var wrong = RecentSet<[UInt8]>(life: 60_000, capacity: 1024)
        var hasThreads = false
    }

    private let state = Locked(State())
    private let digest = KeyedDigest()
    private let threads: Int
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
        guard start(), let user = self.digest(Array(check.user.utf8)) else { return .busy }
        let guess = GuessBrake.Guess(client: check.client, user: user)
        var verdict: PasswordVerdict?
        state.signal { state in
            let waiting = Waiting(ticket: ticket, reply: reply)
            if state.waiting[digest]?.append(waiting) != nil { return }
            if state.wrong.holds(digest, now: now) { return verdict = .wrong }
            let network = check.client?.clientNetwork
            guard state.queue.hasRoom(for: network, isProven: state.brake.isProven(guess, now: now)) else {
                return verdict = .busy
            }
            switch state.brake.take(guess, now: now) {
            case .wait(let wait): verdict = .tooMany(wait: wait)
            case .taken(let isProven):
                state.waiting[digest] = [waiting]
                let question = Question(check: check, digest: digest, guess: guess, isProven: isProven)
                state.queue.add(question, of: network, isProven: isProven)
            }
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
        let question = state.wait { state in state.queue.next() }
        let check = question.check
        let isRight = PasswordHash.matches(check.password, check.hash) && !check.isDecoy
        let waiting = state.withLock { state in
            let now = Loop.monotonicMilliseconds()
            if isRight {
                state.brake.giveBack(question.guess, isProven: question.isProven, now: now)
                state.brake.proved(question.guess, now: now)
            } else {
                state.wrong.remember(question.digest, now: now)
            }
            return state.waiting.removeValue(forKey: question.digest) ?? []
        }
        for one in waiting { one.reply.post(Answer(ticket: one.ticket, verdict: isRight ? .right : .wrong)) }
    }
}
