internal import Authorization
internal import EventLoop
internal import ProxyCore
internal import TLSEngine

/// AM's decisions for all loops and generations of the configuration. It holds only digests of sessions and questions, and
/// notifies the loop of an exchange that waits to ask.
public final class DecisionTable: Sendable {
    typealias Port = Mailbox<WaitingTicket>

    private struct Turn {
        let ticket: WaitingTicket
        let port: Port
    }

    private struct State {
        var decisions = PolicyDecisions()
        var ports: [WaitingTicket: Port] = [:]

        var turn: Turn? {
            decisions.next.flatMap { ticket in ports[ticket].map { Turn(ticket: ticket, port: $0) } }
        }
    }

    private let state = Locked(State())
    private let keyed = KeyedDigest()

    public init() {}

    func digest(_ bytes: [UInt8]) -> UInt128? { keyed.tableKey(bytes) }
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { state.withLock { body(&$0.decisions) } }

    func finish(_ client: Int) {
        tell(
            state.withLock { state in
                state.decisions.finish(client)
                return state.turn
            })
    }

    func enter(_ client: Int, most: Int, _ port: Port) -> WaitingTicket? {
        state.withLock { state in
            let ticket = state.decisions.enter(client, most: most)
            if let ticket { state.ports[ticket] = port }
            return ticket
        }
    }

    func leave(_ ticket: WaitingTicket) {
        tell(
            state.withLock { state in
                state.decisions.leave(ticket)
                state.ports[ticket] = nil
                return state.turn
            })
    }

    private func tell(_ turn: Turn?) {
        if let turn { turn.port.post(turn.ticket) }
    }
}

/// One loop's access to AM's decisions.
final class DecisionDesk: DecisionStore {
    private let table: DecisionTable
    private let bell: WaitingBell

    init(_ table: DecisionTable, _ bell: WaitingBell) {
        self.table = table
        self.bell = bell
    }

    var isDry: Bool { false }
    func digest(_ bytes: [UInt8]) -> UInt128? { table.digest(bytes) }
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { table.change(body) }
    func finish(_ client: Int) { table.finish(client) }

    func enter(_ client: Int, most: Int) -> WaitingTicket? {
        bell.mailbox.flatMap { table.enter(client, most: most, $0) }
    }

    func leave(_ ticket: WaitingTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }
}
