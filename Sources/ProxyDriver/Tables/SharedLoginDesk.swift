import Authorization
import Interception
import ProxyCore

/// One loop's access to the login results of all loops.
final class SharedLoginDesk<Gain: LoginGain>: SharedLoginStore {
    private let table: SharedLoginTable<Gain>
    private let bell: FlightBell

    init(_ table: SharedLoginTable<Gain>, _ bell: FlightBell) {
        self.table = table
        self.bell = bell
    }

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { table.change(body) }

    func enter(_ obstacle: SharedLogins<Gain>.Obstacle) -> FlightTicket? {
        bell.mailbox.flatMap { table.enter(obstacle, $0) }
    }

    func leave(_ ticket: FlightTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }
}

/// One loop's access to the tokens of all loops.
final class TokenDesk: TokenStore {
    private let table: TokenTable
    private let bell: FlightBell

    init(_ table: TokenTable, _ bell: FlightBell) {
        self.table = table
        self.bell = bell
    }

    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { table.changeTokens(body) }

    func enter(_ obstacle: SharedLogins<TokenGrant>.Obstacle) -> FlightTicket? {
        bell.mailbox.flatMap { table.enter(obstacle, $0) }
    }

    func leave(_ ticket: FlightTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }
}
