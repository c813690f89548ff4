public import Authorization

/// Those who wait for logins of others, in the order in which they came. Whoever is told asks again, and leaves as soon as it
/// need not wait any more.
///
/// What a login comes to is told all who wait for it. That another one may begin is told the first who waits for that, and
/// the next where the first leaves: so it goes on until one asks in vain.
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

    /// - Returns: nil where there is no room.
    public mutating func enter(_ obstacle: Obstacle, _ waiter: Waiter) -> FlightTicket? {
        guard places.count < capacity else { return nil }
        issued += 1
        let ticket = FlightTicket(kind, issued)
        places[ticket] = Place(obstacle: obstacle, waiter: waiter)
        lines[obstacle, default: []].append(ticket)
        return ticket
    }

    /// - Returns: who is to be told, as below.
    public mutating func leave(_ ticket: FlightTicket) -> [(FlightTicket, Waiter)] {
        guard let obstacle = places.removeValue(forKey: ticket)?.obstacle, var line = lines[obstacle] else { return [] }
        let wasFirst = line.first == ticket
        line.removeAll { $0 == ticket }
        lines[obstacle] = line.isEmpty ? nil : line
        if case .room = obstacle, wasFirst { return first(obstacle) }
        return []
    }

    /// The login for that key is over.
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

/// A place among those who wait, given up with the last reference.
final class LoginPlace<Gain: LoginGain> {
    let obstacle: SharedLogins<Gain>.Obstacle
    let ticket: FlightTicket
    private let store: any SharedLoginStore<Gain>

    /// Nil where there is no room.
    init?(_ store: any SharedLoginStore<Gain>, _ obstacle: SharedLogins<Gain>.Obstacle) {
        guard let ticket = store.enter(obstacle) else { return nil }
        self.store = store
        self.obstacle = obstacle
        self.ticket = ticket
    }

    deinit { store.leave(ticket) }
}
