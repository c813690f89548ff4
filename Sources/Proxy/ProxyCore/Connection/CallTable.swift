/// The calls under way for a connection's exchanges.
struct CallTable: ~Copyable {
    private(set) var cells: [ExchangeCell] = []

    /// The most calls that run to their end without a caller; further ones are cancelled.
    static let mostOrphans = 16

    var isEmpty: Bool { cells.isEmpty }
    var count: Int { cells.count }
    var hasOrphans: Bool { cells.contains { $0.exchange.isOrphan } }
    /// Whether an exchange waits for a call.
    var areAwaited: Bool { cells.contains { !$0.exchange.isOver && !$0.exchange.isOrphan } }

    /// The calls whose caller is gone.
    var orphans: [ExchangeCell] { cells.isEmpty ? [] : cells.filter { $0.exchange.isOrphan } }
    /// The calls that an exchange waits for.
    var awaited: [ExchangeCell] { cells.isEmpty ? [] : cells.filter { !$0.exchange.isOrphan && !$0.exchange.isOver } }

    subscript(_ id: ExchangeID) -> ExchangeCell? { cells.first { $0.exchange.id == id } }

    /// The calls that an exchange made.
    func made(by caller: ExchangeID) -> [ExchangeCell] {
        cells.filter { $0.exchange.caller == caller && !$0.exchange.isOver }
    }

    mutating func add(_ cell: ExchangeCell) { cells.append(cell) }

    /// - Returns: false when the table does not hold the call.
    mutating func remove(_ cell: ExchangeCell) -> Bool {
        guard let index = cells.firstIndex(where: { $0 === cell }) else { return false }
        cells.remove(at: index)
        return true
    }

    /// Whether the call goes on after its caller has gone.
    func isLeft(_ call: ExchangeCell, _ out: borrowing CommandBuffer) -> Bool {
        if !call.exchange.isOrphan, cells.count(where: { $0.exchange.isOrphan }) >= Self.mostOrphans { return false }
        return call.exchange.info.isLeft(out)
    }

    /// Ends the connection's calls, except those that run to their end.
    mutating func end(_ out: inout CommandBuffer) {
        for call in cells where !isLeft(call, out) { call.exchange.cut(reset: false, &out) }
        cells.removeAll { !$0.exchange.isOrphan }
    }
}
