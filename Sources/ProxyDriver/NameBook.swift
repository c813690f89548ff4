import EventLoop

/// The names of one loop: what is known of them, and the dials that wait to know more.
final class NameBook {
    private let loop: Loop
    private let resolver: Resolver
    private let answers: Mailbox<Resolver.Answer>
    private var port: MailboxPort<Resolver.Answer>?
    private var cache = NameCache<Dial>()

    init(loop: Loop, resolver: Resolver) throws(SystemError) {
        self.loop = loop
        self.resolver = resolver
        answers = try Mailbox()
        port = try MailboxPort(loop: loop, answers) { [unowned self] in take($0) }
    }

    /// Looks a name up. Where the finding is not the last word, `Dial.resolved` tells what follows.
    /// - Parameter patience: milliseconds after which the answer is of no use.
    func find(_ host: String, for dial: Dial, patience: Int) -> NameCache<Dial>.Finding {
        let finding = cache.find(host, for: dial, now: loop.now)
        if finding == .unasked { resolver.resolve(host, limit: loop.now + patience, reply: answers) }
        return finding
    }

    func forget(_ host: String, _ dial: Dial) { cache.forget(host, dial) }

    private func take(_ answer: Resolver.Answer) {
        for dial in cache.take(answer, now: loop.now) { dial.resolved(answer) }
    }
}
