import Authorization
import Interception
import ProxyCore

/// One loop's access to the credentials of all loops.
final class CredentialDesk<Value: Credential>: CredentialStore {
    private let table: CredentialTable<Value>
    private let bell: WaitingBell

    init(_ table: CredentialTable<Value>, _ bell: WaitingBell) {
        self.table = table
        self.bell = bell
    }

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result { table.change(body) }

    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? {
        bell.mailbox.flatMap { table.enter(obstacle, $0) }
    }

    func leave(_ ticket: WaitingTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }

    func isAwaited(_ key: Value.Key) -> Bool { table.isAwaited(key) }
}

/// One loop's access to the tokens of all loops.
final class TokenDesk: TokenStore {
    private let table: TokenTable
    private let bell: WaitingBell

    init(_ table: TokenTable, _ bell: WaitingBell) {
        self.table = table
        self.bell = bell
    }

    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { table.changeTokens(body) }

    func enter(_ obstacle: CredentialLedger<TokenGrant>.Obstacle) -> WaitingTicket? {
        bell.mailbox.flatMap { table.enter(obstacle, $0) }
    }

    func leave(_ ticket: WaitingTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }

    func isAwaited(_ key: TokenKey) -> Bool { table.isAwaited(key) }
}
