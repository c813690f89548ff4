public import Authorization

/// The queue of requests that wait for logins of others, in order. A request that is woken asks again, and leaves the queue when
/// it need not wait any longer.
///
/// The end of a login wakes all that wait for it. A free place wakes the first that waits for one; when that one leaves, the next
/// is woken.
public struct LoginLine<Gain: LoginGain, Waiter> {
    public typealias Obstacle = SharedLogins<Gain>.Obstacle

    struct Place {
        let obstacle: Obstacle
        let waiter: Waiter
    }

    private let kind: FlightTicket.Kind
    private let capacity: Int
    private var places: [FlightTicket: Place] = [:]
    private var lines: [Obstacle: [FlightTicket]] = [:]
    private var issued: UInt64 = 0

    /// - Parameter capacity: how many may wait.
    public init(_ kind: FlightTicket.Kind, capacity: Int = 4096) {
        self.kind = kind
        self.capacity = capacity
    }

    public var count: Int { places.count }

    /// - Returns: nil if the queue is full.
    public mutating func enter(_ obstacle: Obstacle, _ waiter: Waiter) -> FlightTicket? {
        guard places.count < capacity else { return nil }
        issued += 1
        let ticket = FlightTicket(kind, issued)
        places[ticket] = Place(obstacle: obstacle, waiter: waiter)
        lines[obstacle, default: []].append(ticket)
        return ticket
    }

    /// - Returns: the tickets to wake, as above.
    public mutating func leave(_ ticket: FlightTicket) -> [(FlightTicket, Waiter)] {
        guard let obstacle = places.removeValue(forKey: ticket)?.obstacle, var line = lines[obstacle] else { return [] }
        let wasFirst = line.first == ticket
        line.removeAll { $0 == ticket }
        lines[obstacle] = line.isEmpty ? nil : line
        if case .room = obstacle, wasFirst { return first(obstacle) }
        return []
    }

    /// The tickets to wake when the login for this key is over.
    public func landed(_ key: Gain.Key) -> [(FlightTicket, Waiter)] {
        told(lines[.login(key)] ?? []) + first(.room(key.owner))
    }

    private func first(_ obstacle: Obstacle) -> [(FlightTicket, Waiter)] { told((lines[obstacle] ?? []).prefix(1)) }

    private func told(_ tickets: some Sequence<FlightTicket>) -> [(FlightTicket, Waiter)] {
        tickets.compactMap { ticket in places[ticket].map { (ticket, $0.waiter) } }
    }
}

extension LoginLine: Sendable where Waiter: Sendable {}
extension LoginLine.Place: Sendable where Waiter: Sendable {}

/// A place in the queue, given up with the last reference.
final class LoginPlace<Gain: LoginGain> {
    let obstacle: SharedLogins<Gain>.Obstacle
    let ticket: FlightTicket
    private let store: any SharedLoginStore<Gain>

    /// Nil if the queue is full.
    init?(_ store: any SharedLoginStore<Gain>, _ obstacle: SharedLogins<Gain>.Obstacle) {
        guard let ticket = store.enter(obstacle) else { return nil }
        self.store = store
        self.obstacle = obstacle
        self.ticket = ticket
    }

    deinit { store.leave(ticket) }
}
