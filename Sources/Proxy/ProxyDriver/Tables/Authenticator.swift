import Addresses
import EventLoop
import Passwords
import TLSEngine

/// Checks passwords on its own threads, as bcrypt takes tens of milliseconds. All loops share it, so that it counts guesses from
/// everywhere. It gets only passwords that no loop remembers.
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
        let guess: GuessLimiter.Guess
    }

    private struct State: Sendable {
        var queue = CheckQueue<Question>()
        /// The waiting requests by password digest, current checks included. Many connections of one client show the same
        /// password at once, and that counts as one guess.
        var waiting: [[UInt8]: [Waiting]] = [:]
        var limiter = GuessLimiter()
        /// Digests of wrong passwords. Repeating one is no new guess, so a program with an outdated password does not block
        /// others of its network.
        var wrong = RecentSet<[UInt8]>(life: 60_000, capacity: 1024)
        var hasThreads = false
    }

    private let state = Locked(State())
    private let digest = KeyedDigest()
    private let threads: Int
    /// Threads start with the first check; without `clients.basic` there are none.
    public init(threads: Int = 2) { self.threads = max(1, threads) }

    /// The digest by which a right password is remembered. It includes the hash, so a changed password is checked anew.
    func digest(of check: PasswordCheck) -> [UInt8]? {
        // no part contains a zero byte
        digest([check.isDecoy ? 1 : 0] + Array(check.hash.utf8) + [0] + Array(check.user.utf8) + [0] + check.password)
    }

    /// Checks the password.
    /// - Returns: the verdict if it is known at once; else nil, and the reply carries the ticket.
    func verify(
        _ check: PasswordCheck, digest: [UInt8], ticket: UInt64, reply: Mailbox<Answer>, now: Int
    ) -> PasswordVerdict? {
        guard start(), let user = self.digest(Array(check.user.utf8)) else { return .busy }
        let guess = GuessLimiter.Guess(client: check.client, user: user)
        var verdict: PasswordVerdict?
        state.signal { state in
            let waiting = Waiting(ticket: ticket, reply: reply)
            if state.waiting[digest]?.append(waiting) != nil { return }
            if state.wrong.holds(digest, now: now) { return verdict = .wrong }
            let wait = state.limiter.wait(guess, now: now)
            guard wait == 0 else { return verdict = .tooMany(wait: wait) }
            let network = check.client?.clientNetwork
            let isProven = state.limiter.isProven(guess, now: now)
            guard state.queue.hasRoom(for: network, isProven: isProven) else { return verdict = .busy }
            state.waiting[digest] = [waiting]
            state.queue.add(Question(check: check, digest: digest, guess: guess), of: network, isProven: isProven)
        }
        return verdict
    }

    /// False if the system has no thread left.
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
        // only a check under way counts as a try: many clients that log in at once do not guess
        let (question, outcome) = state.wait { state in
            state.queue.next().map { ($0, state.limiter.take($0.guess, now: Loop.monotonicMilliseconds())) }
        }
        let verdict =
            switch outcome {
            case .wait(let wait): PasswordVerdict.tooMany(wait: wait)
            case .taken(let isProven): judge(question, isProven)
            }
        let waiting = state.withLock { $0.waiting.removeValue(forKey: question.digest) ?? [] }
        for one in waiting { one.reply.post(Answer(ticket: one.ticket, verdict: verdict)) }
    }

    private func judge(_ question: Question, _ isProven: Bool) -> PasswordVerdict {
        let check = question.check
        let isRight = PasswordHash.matches(check.password, check.hash) && !check.isDecoy
        state.withLock { state in
            let now = Loop.monotonicMilliseconds()
            if isRight {
                state.limiter.giveBack(question.guess, isProven: isProven, now: now)
                state.limiter.proved(question.guess, now: now)
            } else {
                state.wrong.remember(question.digest, now: now)
            }
        }
        return isRight ? .right : .wrong
    }
}
