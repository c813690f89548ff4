import Authorization
import Interception
import ProxyCore

/// A table of logins whose clock is the test's.
final class LoginBook: LoginStore {
    var ledger: LoginLedger<Void>
    var now = 0
    var ended: [Lockout.Verdict] = []
    private(set) var begun = 0
    /// AM refused these answers lately, whatever the book has.
    var isHeld = false
    private var told: [WaitingTicket] = []

    /// - Parameter capacity: how many may wait.
    init(capacity: Int = 4096) { ledger = LoginLedger(capacity: capacity) }

    private static let held = LoginPermission.held(refusals: 3, milliseconds: 1_000)

    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission {
        if isHeld { return Self.held }
        return counted(ledger.begin(key(login), limits, (), now: now))
    }

    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission {
        if isHeld { return Self.held }
        return ledger.begin(key, limits, goesOn: true, (), now: now)
    }

    func look(_ ticket: WaitingTicket) -> LoginPermission { counted(ledger.look(ticket)) }

    private func counted(_ permission: LoginPermission) -> LoginPermission {
        if case .go = permission { begun += 1 }
        return permission
    }

    func leave(_ ticket: WaitingTicket) { tell(ledger.leave(ticket, now: now)) }

    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? {
        if isHeld { return Self.held }
        return ledger.pause(key(login), limits, now: now)
    }

    private func key(_ login: Login) -> Lockout.Key {
        Lockout.Key(
            answers: login.answers.reduce(0) { $0 &* 31 &+ UInt128($1) },
            session: login.inSession.reduce(0) { $0 &* 31 &+ UInt128($1) })
    }

    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) { tell(ledger.grant(key, limits, now: now)) }

    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        ended.append(verdict)
        tell(ledger.end(key, verdict, granted: granted, limits, now: now))
    }

    private func tell(_ turns: [(WaitingTicket, Void)]) { told += turns.map(\.0) }

    /// Tells whoever of these is to be told, as its loop's mailbox does.
    func ring(_ talks: Conversation...) {
        while !told.isEmpty {
            let ticket = told.removeFirst()
            for talk in talks { talk.driver.ticketCame(ticket) }
        }
    }
}
