public import Interception

/// The requests that wait for fetches of others, in order. A request that is woken asks again, and leaves the line when it need
/// not wait any longer.
///
/// The end of a fetch wakes all that wait for it. A free place among the fetches wakes the first that waits for one; when that
/// one leaves, the next is woken.
public struct WaitingLine<Value: Credential, Waiter> {
    public typealias Obstacle = CredentialLedger<Value>.Obstacle

    struct Place {
        let obstacle: Obstacle
        let waiter: Waiter
    }

    private let kind: WaitingTicket.Kind
    private let capacity: Int
    private var places: [WaitingTicket: Place] = [:]
    private var lines: [Obstacle: [WaitingTicket]] = [:]
    private var issued = WaitingTicket.firstNumber()

    /// - Parameter capacity: how many may wait.
    public init(_ kind: WaitingTicket.Kind, capacity: Int = 4096) {
        self.kind = kind
        self.capacity = capacity
    }

    public var count: Int { places.count }

    /// - Returns: nil if the line is full.
    public mutating func enter(_ obstacle: Obstacle, _ waiter: Waiter) -> WaitingTicket? {
        guard places.count < capacity else { return nil }
        issued += 1
        let ticket = WaitingTicket(kind, issued)
        places[ticket] = Place(obstacle: obstacle, waiter: waiter)
        lines[obstacle, default: []].append(ticket)
        return ticket
    }

    /// - Returns: the tickets to wake, as above.
    public mutating func leave(_ ticket: WaitingTicket) -> [(WaitingTicket, Waiter)] {
        guard let obstacle = places.removeValue(forKey: ticket)?.obstacle, var line = lines[obstacle] else { return [] }
        let wasFirst = line.first == ticket
        line.removeAll { $0 == ticket }
        lines[obstacle] = line.isEmpty ? nil : line
        if case .room = obstacle, wasFirst { return first(obstacle) }
        return []
    }

    /// The tickets to wake when the fetch for this key is over.
    public func ended(_ key: Value.Key) -> [(WaitingTicket, Waiter)] {
        woken(lines[.fetch(key)] ?? []) + first(.room(key.owner))
    }

    /// A request waits for this fetch.
    public func isAwaited(_ key: Value.Key) -> Bool { lines[.fetch(key)] != nil }

    private func first(_ obstacle: Obstacle) -> [(WaitingTicket, Waiter)] { woken((lines[obstacle] ?? []).prefix(1)) }

    private func woken(_ tickets: some Sequence<WaitingTicket>) -> [(WaitingTicket, Waiter)] {
        tickets.compactMap { ticket in places[ticket].map { (ticket, $0.waiter) } }
    }
}

extension WaitingLine: Sendable where Waiter: Sendable {}
extension WaitingLine.Place: Sendable where Waiter: Sendable {}

/// A place in the line, given up with the last reference.
final class WaitingPlace<Value: Credential> {
    let obstacle: CredentialLedger<Value>.Obstacle
    let ticket: WaitingTicket
    private let store: any CredentialStore<Value>

    /// Nil if the line is full.
    init?(_ store: any CredentialStore<Value>, _ obstacle: CredentialLedger<Value>.Obstacle) {
        guard let ticket = store.enter(obstacle) else { return nil }
        self.store = store
        self.obstacle = obstacle
        self.ticket = ticket
    }

    deinit { store.leave(ticket) }
}
