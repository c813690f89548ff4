/// A place in a single flight. Its holder leads the flight or waits for the leader.
public struct FlightTicket: Hashable, Sendable {
    /// The kind of work.
    public enum Kind: UInt8, Sendable {
        case upgrade, login
        /// A turn to begin a login (`LoginLedger`).
        case turn
        /// The credential of an interceptor's login.
        case cookie, token
        /// A policy question to AM.
        case question
    }

    public let kind: Kind
    private let number: UInt64

    /// - Parameter number: unique within the kind.
    public init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }
}

/// The response to a request for a value.
public enum FlightAnswer<Value> {
    case use(Value)
    /// The caller does the work. The value is the current one, which others use until it is renewed.
    case lead(FlightTicket, Value?)
    /// Another caller does the work; the waiter is notified.
    case wait(FlightTicket)
    /// The work failed recently.
    case failed(String)
    /// There is no room for waiters, so the caller works for itself.
    case alone
}

/// The state of a place.
public enum FlightLook<Value> {
    case lead, wait
    case use(Value)
    case failed(String)
}

/// Single flight: work that several need at the same time is done once, and the result is cached for a while.
///
/// The first caller leads. If it gives up, the next waiter leads; a failure reported for all goes to all waiters. Keys are
/// digests, so a ledger holds no sessions except obtained ones.
public struct FlightLedger<Value, Waiter> {
    fileprivate struct Kept {
        var value: Value
        let since: Int
        /// From then on, the next caller renews it.
        var dueAt: Int
        var until: Int
    }

    fileprivate struct Flight {
        var leader: FlightTicket?
        var queue: [FlightTicket] = []
        var kept: Kept?
        var failure: (reason: String, until: Int)?
        /// A cached value was found invalid during the work. Current waiters receive the result, but it is not cached.
        var isVoid = false

        func isIdle(_ now: Int) -> Bool {
            leader == nil && (kept.map { $0.until <= now } ?? true) && (failure.map { $0.until <= now } ?? true)
        }
    }

    fileprivate struct Seat {
        enum State {
            case leads, waits
            case has(Value)
            case failed(String)
        }

        let key: UInt128
        let waiter: Waiter
        let mark: Int
        var state: State
    }

    private let kind: FlightTicket.Kind
    private let capacity: Int
    private var flights: [UInt128: Flight] = [:]
    private var seats: [FlightTicket: Seat] = [:]
    private var issued: UInt64 = 0
    /// The time of the next removal of expired entries.
    private var nextSweep = 0

    private static var sweepInterval: Int { 1_000 }
    /// How long a new value is not renewed despite refusals, in milliseconds.
    static var youth: Int { 10_000 }

    /// - Parameter capacity: the limit of keys. Beyond it, the entries that expire first are dropped.
    public init(_ kind: FlightTicket.Kind, capacity: Int = 4096) {
        self.kind = kind
        self.capacity = max(1, capacity)
    }

    public var count: Int { flights.count }
    /// The count of leaders and waiters.
    public var places: Int { seats.count }

    /// - Parameters:
    /// - mark: groups work across keys; see `isBusy`.
    /// - refused: returns true for a value that was refused.
    public mutating func ask(
        _ key: UInt128, mark: Int = 0, refused: ((Value) -> Bool)? = nil, _ waiter: Waiter, now: Int
    ) -> FlightAnswer<Value> {
        sweep(now)
        if flights[key] == nil, !makeRoom(now) { return .alone }
        var flight = flights[key] ?? Flight()
        if let kept = flight.kept, kept.until <= now { flight.kept = nil }
        defer { flights[key] = flight }
        // a new value is not renewed, even if it is refused
        let isDoubted = flight.kept.map { now - $0.since >= Self.youth && refused?($0.value) == true } ?? false
        if let kept = flight.kept, !isDoubted, now < kept.dueAt || flight.leader != nil { return .use(kept.value) }
        if let failure = flight.failure, now < failure.until {
            // a value that is still valid is used despite the failure
            return flight.kept.map { .use($0.value) } ?? .failed(failure.reason)
        }
        let isFirst = flight.leader == nil
        let ticket = issue(key, waiter, mark, isFirst ? .leads : .waits)
        if isFirst {
            flight.leader = ticket
            flight.isVoid = false
        } else {
            flight.queue.append(ticket)
        }
        return isFirst ? .lead(ticket, flight.kept?.value) : .wait(ticket)
    }

    private mutating func issue(_ key: UInt128, _ waiter: Waiter, _ mark: Int, _ state: Seat.State) -> FlightTicket {
        issued += 1
        let ticket = FlightTicket(kind, issued)
        seats[ticket] = Seat(key: key, waiter: waiter, mark: mark, state: state)
        return ticket
    }

    public func look(_ ticket: FlightTicket) -> FlightLook<Value> {
        switch seats[ticket]?.state {
        case .leads: .lead
        case .waits: .wait
        case .has(let value): .use(value)
        case .failed(let reason): .failed(reason)
        case nil: .failed("its place is gone")
        }
    }

    /// Stores the leader's result; all waiters receive it.
    /// - Parameters:
    /// - dueAt: when to renew it.
    /// - until: when it expires for later callers.
    /// - Returns: the waiters to notify.
    public mutating func won(
        _ ticket: FlightTicket, _ value: Value, dueAt: Int, until: Int, now: Int
    ) -> [(FlightTicket, Waiter)] {
        guard let key = lead(ticket) else { return [] }
        seats[ticket] = nil
        let isKept = now < until && flights[key]?.isVoid == false
        flights[key]?.kept = isKept ? Kept(value: value, since: now, dueAt: dueAt, until: until) : nil
        flights[key]?.failure = nil
        return settle(key, .has(value), now)
    }

    /// Records a failure that applies to all waiters.
    public mutating func failed(
        _ ticket: FlightTicket, _ reason: String, until: Int, now: Int
    ) -> [(FlightTicket, Waiter)] {
        guard let key = lead(ticket) else { return [] }
        seats[ticket] = nil
        flights[key]?.failure = (reason, until)
        return settle(key, .failed(reason), now)
    }

    /// Gives up a place. If it led, the next waiter leads.
    public mutating func leave(_ ticket: FlightTicket, now: Int) -> [(FlightTicket, Waiter)] {
        guard let seat = seats.removeValue(forKey: ticket) else { return [] }
        guard flights[seat.key]?.leader == ticket else {
            flights[seat.key]?.queue.removeAll { $0 == ticket }
            return []
        }
        guard let next = flights[seat.key]?.queue.first, let waiter = seats[next]?.waiter else {
            flights[seat.key]?.leader = nil
            if flights[seat.key]?.isIdle(now) == true { flights[seat.key] = nil }
            return []
        }
        flights[seat.key]?.queue.removeFirst()
        flights[seat.key]?.leader = next
        seats[next]?.state = .leads
        return [(next, waiter)]
    }

    /// True if someone waits for this leader.
    public func isAwaited(_ ticket: FlightTicket) -> Bool {
        lead(ticket).flatMap { flights[$0] }.map { !$0.queue.isEmpty } ?? false
    }

    /// The key that the ticket leads.
    private func lead(_ ticket: FlightTicket) -> UInt128? {
        guard let key = seats[ticket]?.key, flights[key]?.leader == ticket else { return nil }
        return key
    }

    private mutating func settle(_ key: UInt128, _ state: Seat.State, _ now: Int) -> [(FlightTicket, Waiter)] {
        let queue = flights[key]?.queue ?? []
        flights[key]?.queue = []
        flights[key]?.leader = nil
        if flights[key]?.isIdle(now) == true { flights[key] = nil }
        return queue.compactMap { ticket in
            seats[ticket]?.state = state
            return seats[ticket].map { (ticket, $0.waiter) }
        }
    }

    // MARK: cached values

    /// Changes a cached value.
    /// - Parameter change: returns the new value; nil to drop it.
    public mutating func change(_ key: UInt128, _ change: (Value) -> Value?) {
        guard let kept = flights[key]?.kept else { return }
        let value = change(kept.value)
        flights[key]?.kept = value.map { Kept(value: $0, since: kept.since, dueAt: kept.dueAt, until: kept.until) }
    }

    /// True if work with this mark is under way.
    public func isBusy(_ mark: Int) -> Bool { seats.values.contains { $0.mark == mark } }

    /// The first cached value that matches.
    public func first(now: Int, _ isIt: (Value) -> Bool) -> Value? {
        flights.values.lazy.compactMap(\.kept).first { now < $0.until && isIt($0.value) }?.value
    }

    /// Drops the cached values that match.
    public mutating func forget(_ isOver: (UInt128, Value) -> Bool) {
        for (key, flight) in flights {
            // an upgrade under way may concern the same session; the ledger cannot tell
            if kind == .upgrade, flight.leader != nil { flights[key]?.isVoid = true }
            guard let kept = flight.kept, isOver(key, kept.value) else { continue }
            flights[key]?.kept = nil
        }
    }

    private mutating func sweep(_ now: Int) {
        guard now >= nextSweep else { return }
        nextSweep = now + Self.sweepInterval
        flights = flights.filter { !$0.value.isIdle(now) }
    }

    /// Drops a quarter of the idle entries of a full table. False if all are under way.
    private mutating func makeRoom(_ now: Int) -> Bool {
        guard flights.count >= capacity else { return true }
        let idle = flights.filter { $0.value.leader == nil }
        let order = idle.sorted { ($0.value.kept?.until ?? 0) < ($1.value.kept?.until ?? 0) }
        for (key, _) in order.prefix(max(1, capacity / 4)) { flights[key] = nil }
        return flights.count < capacity
    }
}

extension FlightLedger: Sendable where Value: Sendable, Waiter: Sendable {}
extension FlightLedger.Kept: Sendable where Value: Sendable {}
extension FlightLedger.Flight: Sendable where Value: Sendable {}
extension FlightLedger.Seat: Sendable where Value: Sendable, Waiter: Sendable {}
extension FlightLedger.Seat.State: Sendable where Value: Sendable {}
