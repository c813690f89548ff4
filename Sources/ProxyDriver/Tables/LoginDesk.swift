import Authorization
import ProxyCore

/// One loop's access to the logins of all loops.
final class LoginDesk: LoginStore {
    private let table: LoginTable
    private let bell: WaitingBell

    init(_ table: LoginTable, _ bell: WaitingBell) {
        self.table = table
        self.bell = bell
    }

    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission {
        guard let port = bell.mailbox else { return .full }
        return table.begin(login, limits, port)
    }

    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission {
        guard let port = bell.mailbox else { return .full }
        return table.begin(again: key, limits, port)
    }

    func look(_ ticket: WaitingTicket) -> LoginPermission {
        let permission = table.look(ticket)
        if permission != .wait(ticket) { bell.forget(ticket) }
        return permission
    }

    func leave(_ ticket: WaitingTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }

    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? { table.pause(login, limits) }
    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) { table.grant(key, limits) }

    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        table.end(key, verdict, granted: granted, limits)
    }
}
