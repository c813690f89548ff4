/// The calls of a connection's exchanges that are under way.
struct CallTable {
    private(set) var cells: [ExchangeCell] = []

    /// Calls that are heard to their end though nobody here waits for them, at most: further ones are given up.
    static let mostOrphans = 16

    var isEmpty: Bool { cells.isEmpty }
    var count: Int { cells.count }
    var hasOrphans: Bool { cells.contains { $0.exchange.isOrphan } }
    /// An exchange waits for one.
    var areAwaited: Bool { cells.contains { !$0.exchange.isOver && !$0.exchange.isOrphan } }

    /// Those that nobody here waits for.
    var orphans: [ExchangeCell] { cells.isEmpty ? [] : cells.filter { $0.exchange.isOrphan } }
    /// Those that are under way for an exchange.
    var awaited: [ExchangeCell] { cells.isEmpty ? [] : cells.filter { !$0.exchange.isOrphan && !$0.exchange.isOver } }

    subscript(_ id: ExchangeID) -> ExchangeCell? { cells.first { $0.exchange.id == id } }

    /// Those of an exchange.
    func made(by caller: ExchangeID) -> [ExchangeCell] {
        cells.filter { $0.exchange.caller == caller && !$0.exchange.isOver }
    }

    mutating func add(_ cell: ExchangeCell) { cells.append(cell) }

    /// - Returns: false where it is not among them.
    mutating func remove(_ cell: ExchangeCell) -> Bool {
        guard let index = cells.firstIndex(where: { $0 === cell }) else { return false }
        cells.remove(at: index)
        return true
    }

    /// Whoever made this call is gone, and it goes on.
    func isLeft(_ call: ExchangeCell, _ out: borrowing Outbox) -> Bool {
        if !call.exchange.isOrphan, cells.count(where: { $0.exchange.isOrphan }) >= Self.mostOrphans { return false }
        return call.exchange.isLeft(out)
    }

    /// The connection is over: what is not heard to its end is cut off.
    mutating func end(_ out: inout Outbox) {
        for call in cells where !isLeft(call, out) { call.exchange.cut(reset: false, &out) }
        cells.removeAll { !$0.exchange.isOrphan }
    }
}
