import EventLoop
import Passwords
import ProxyCore

/// One loop's access to the authenticator, with a cache of right passwords. A client sends its password with every request, and
/// only the first costs a bcrypt.
final class PasswordVerifier {
    private struct Waiting {
        let connection: Connection
        let exchange: ExchangeID
        let holder: PasswordCache.Holder
        let digest: [UInt8]
    }

    private let loop: Loop
    private let authenticator: Authenticator
    private let answers: Mailbox<Authenticator.Answer>
    private var port: EventSource?
    private var waiting: [UInt64: Waiting] = [:]
    private var nextTicket: UInt64 = 0
    private var cache = PasswordCache()

    init(loop: Loop, authenticator: Authenticator) throws(SystemError) {
        self.loop = loop
        self.authenticator = authenticator
        answers = try Mailbox()
        port = try MailboxPort(loop: loop, answers) { [unowned self] in answered($0) }
    }

    /// The verdict if it is known at once; else nil, and the connection gets it later.
    func verdict(on check: PasswordCheck, of id: ExchangeID, for connection: Connection) -> PasswordVerdict? {
        guard let digest = authenticator.digest(of: check) else { return .busy }
        let holder = PasswordCache.Holder(check)
        if !check.isDecoy, cache.holds(holder, digest, now: loop.now) { return .right }
        nextTicket += 1
        let verdict = authenticator.verify(check, digest: digest, ticket: nextTicket, reply: answers, now: loop.now)
        if verdict == nil {
            waiting[nextTicket] = Waiting(connection: connection, exchange: id, holder: holder, digest: digest)
        }
        if let verdict { learn(verdict, holder, digest) }
        return verdict
    }

    private func learn(_ verdict: PasswordVerdict, _ holder: PasswordCache.Holder, _ digest: [UInt8]) {
        switch verdict {
        case .right: cache.remember(holder, digest, now: loop.now)
        // otherwise the cache would confirm a right guess without limit
        case .tooMany: cache.forget(holder)
        case .wrong, .busy: break
        }
    }

    private func answered(_ answer: Authenticator.Answer) {
        guard let waiting = waiting.removeValue(forKey: answer.ticket) else { return }
        learn(answer.verdict, waiting.holder, waiting.digest)
        waiting.connection.happened(.authenticated(answer.verdict), to: waiting.exchange)
    }
}
