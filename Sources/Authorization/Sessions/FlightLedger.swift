/// A place in a flight: whoever has it makes the flight, or waits for whoever does.
public struct FlightTicket: Hashable, Sendable {
    /// What is flown for.
    public enum Kind: UInt8, Sendable {
        case upgrade, login
        /// A login may begin (`LoginLedger`).
        case turn
        /// What a login of an interceptor's wins.
        case cookie, token
        /// AM may be asked for a decision.
        case question
    }

    public let kind: Kind
    private let number: UInt64

    /// - Parameter number: given once for each kind.
    public init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }
}

/// What is said to whoever asks.
public enum FlightAnswer<Value> {
    case use(Value)
    /// It is the asker's to make. The value is what there is and is to be renewed; meanwhile others use that.
    case lead(FlightTicket, Value?)
    /// Somebody makes it, and the asker is told.
    case wait(FlightTicket)
    /// It came to nothing lately.
    case failed(String)
    /// There is no room to have others wait.
    case alone
}

/// What is said to whoever has a place.
public enum FlightLook<Value> {
    case lead, wait
    case use(Value)
    case failed(String)
}

/// What is done once for all who need the same at the same time, and kept for those who come a moment later.
///
/// Whoever comes first makes it. Where that comes to nothing, the next one of those who wait takes over; only what is said
/// to have failed for all is told all of them. A waiter is what has to be told once there is something to know. Keys are
/// digests: a ledger knows no session but those that were won.
public struct FlightLedger<Value, Waiter> {
    fileprivate struct Kept {
        var value: Value
        let since: Int
        /// From when on the next who asks renews it.
        var dueAt: Int
        var until: Int
    }

    fileprivate struct Flight {
        var leader: FlightTicket?
        var queue: [FlightTicket] = []
        var kept: Kept?
        var failure: (reason: String, until: Int)?
        /// Something of what is kept was found over while it was made: those who wait have it, and nobody later.
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
    /// When what is over is looked for next.
    private var nextSweep = 0

    private static var sweepInterval: Int { 1_000 }
    /// Milliseconds in which a value is not replaced for being refused.
    static var youth: Int { 10_000 }

    /// - Parameter capacity: keys of which anything is known; beyond it, what would end first is forgotten.
    public init(_ kind: FlightTicket.Kind, capacity: Int = 4096) {
        self.kind = kind
        self.capacity = max(1, capacity)
    }

    public var count: Int { flights.count }
    /// Those who make something, or wait.
    public var places: Int { seats.count }

    /// - Parameters:
    ///   - mark: tells what it is about, over all keys.
    ///   - refused: tells a value that was found good no more.
    public mutating func ask(
        _ key: UInt128, mark: Int = 0, refused: ((Value) -> Bool)? = nil, _ waiter: Waiter, now: Int
    ) -> FlightAnswer<Value> {
        sweep(now)
        if flights[key] == nil, !makeRoom(now) { return .alone }
        var flight = flights[key] ?? Flight()
        if let kept = flight.kept, kept.until <= now { flight.kept = nil }
        defer { flights[key] = flight }
        // what was made a moment ago is not made again, whatever is said of it
        let isDoubted = flight.kept.map { now - $0.since >= Self.youth && refused?($0.value) == true } ?? false
        if let kept = flight.kept, !isDoubted, now < kept.dueAt || flight.leader != nil { return .use(kept.value) }
        if let failure = flight.failure, now < failure.until {
            // what is still good serves as long as it is
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

    /// It was made: all who wait have it.
    /// - Parameters:
    ///   - dueAt: from when on it is to be renewed.
    ///   - until: how long those who come later have it.
    /// - Returns: who is to be told.
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

    /// It came to nothing, and would for the others, too.
    public mutating func failed(
        _ ticket: FlightTicket, _ reason: String, until: Int, now: Int
    ) -> [(FlightTicket, Waiter)] {
        guard let key = lead(ticket) else { return [] }
        seats[ticket] = nil
        flights[key]?.failure = (reason, until)
        return settle(key, .failed(reason), now)
    }

    /// A place is given up. Where it was that of whoever makes it, the next one does.
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

    /// Somebody waits for what this one makes.
    public func isAwaited(_ ticket: FlightTicket) -> Bool {
        lead(ticket).flatMap { flights[$0] }.map { !$0.queue.isEmpty } ?? false
    }

    /// Whose flight that ticket leads.
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

    // MARK: what is kept

    /// Changes what is kept there.
    /// - Parameter change: gives what is kept from then on; nil for nothing.
    public mutating func change(_ key: UInt128, _ change: (Value) -> Value?) {
        guard let kept = flights[key]?.kept else { return }
        let value = change(kept.value)
        flights[key]?.kept = value.map { Kept(value: $0, since: kept.since, dueAt: kept.dueAt, until: kept.until) }
    }

    /// Something is being made that was marked so.
    public func isBusy(_ mark: Int) -> Bool { seats.values.contains { $0.mark == mark } }

    /// What is kept that this holds of.
    public func first(now: Int, _ isIt: (Value) -> Bool) -> Value? {
        flights.values.lazy.compactMap(\.kept).first { now < $0.until && isIt($0.value) }?.value
    }

    /// Nothing is kept any more where that holds of it.
    public mutating func forget(_ isOver: (UInt128, Value) -> Bool) {
        for (key, flight) in flights {
            // whose session it is about a flight does not know
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

    /// False where everything is under way.
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
