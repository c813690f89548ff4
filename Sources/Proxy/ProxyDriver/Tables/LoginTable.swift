public import Authorization
internal import Interception
internal import ProxyCore

/// The counts of logins, and the queue of waiting ones. It holds only digests of answers and sessions.
public typealias LoginTable = SharedLedger<LoginLedger<WaitingPort>>

extension LoginTable {
    public func entries() -> [Lockout.Entry] { change { $0.entries(now: now) } }

    /// Clears the failures that are counted: for all logins, or for the one with this id.
    /// - Returns: the number of cleared logins.
    public func clear(_ id: String?) -> Int { tell { $0.clear(id, now: now) } }

    fileprivate func key(_ login: Login) -> Lockout.Key? {
        guard let answers = digest(login.answers), let session = digest(login.inSession) else { return nil }
        return Lockout.Key(answers: answers, session: session, at: login.place)
    }
}

extension Desk<LoginLedger<WaitingPort>>: LoginStore {
    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission {
        // without a digest, for lack of memory, a login is refused rather than not counted
        guard let key = table.key(login) else { return .full }
        return table.change { $0.begin(key, limits, port, now: now) }
    }

    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission {
        table.change { $0.begin(key, limits, goesOn: true, port, now: now) }
    }

    func look(_ ticket: WaitingTicket) -> LoginPermission {
        let permission = table.change { $0.look(ticket) }
        if permission != .wait(ticket) { waiting.forget(ticket) }
        return permission
    }

    func leave(_ ticket: WaitingTicket) {
        waiting.forget(ticket)
        table.tell { $0.leave(ticket, now: now) }
    }

    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? {
        table.key(login).flatMap { key in table.change { $0.pause(key, limits, now: now) } }
    }

    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) { table.tell { $0.grant(key, limits, now: now) } }

    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        table.tell { $0.end(key, verdict, granted: granted, limits, now: now) }
    }
}
