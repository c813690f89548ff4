public import Authorization
internal import EventLoop
internal import ProxyCore
internal import TLSEngine

/// The counts of logins for all loops, and the queue of waiting ones, whose loops it notifies. It holds only digests of answers
/// and sessions.
public final class LoginTable: Sendable {
    typealias Port = Mailbox<WaitingTicket>

    private let ledger = Locked(LoginLedger<Port>())
    private let digest = KeyedDigest()

    public init() {}

    func begin(_ login: Login, _ limits: Lockout.Limits, _ port: Port) -> LoginPermission {
        // without a digest, for lack of memory, a login is refused rather than not counted
        guard let key = key(login) else { return .full }
        return ledger.withLock { $0.begin(key, limits, port, now: Loop.monotonicMilliseconds()) }
    }

    func begin(again key: Lockout.Key, _ limits: Lockout.Limits, _ port: Port) -> LoginPermission {
        ledger.withLock { $0.begin(key, limits, goesOn: true, port, now: Loop.monotonicMilliseconds()) }
    }

    func look(_ ticket: WaitingTicket) -> LoginPermission { ledger.withLock { $0.look(ticket) } }

    func leave(_ ticket: WaitingTicket) {
        tell(ledger.withLock { $0.leave(ticket, now: Loop.monotonicMilliseconds()) })
    }

    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? {
        guard let key = key(login) else { return nil }
        return ledger.withLock { $0.pause(key, limits, now: Loop.monotonicMilliseconds()) }
    }

    private func key(_ login: Login) -> Lockout.Key? {
        guard let answers = digest.tableKey(login.answers), let session = digest.tableKey(login.inSession) else {
            return nil
        }
        return Lockout.Key(answers: answers, session: session, at: login.place)
    }

    public func entries() -> [Lockout.Entry] { ledger.withLock { $0.entries(now: Loop.monotonicMilliseconds()) } }

    /// Clears the failures that are counted: for all logins, or for the one with this id.
    /// - Returns: the number of cleared logins.
    public func clear(_ id: String?) -> Int {
        let (count, turns) = ledger.withLock { $0.clear(id, now: Loop.monotonicMilliseconds()) }
        tell(turns)
        return count
    }

    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) {
        tell(ledger.withLock { $0.grant(key, limits, now: Loop.monotonicMilliseconds()) })
    }

    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        tell(
            ledger.withLock { $0.end(key, verdict, granted: granted, limits, now: Loop.monotonicMilliseconds()) })
    }

    private func tell(_ turns: [(WaitingTicket, Port)]) {
        for (ticket, port) in turns { port.post(ticket) }
    }
}
