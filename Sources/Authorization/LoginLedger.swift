/// What is said to whoever asks for a login.
public enum LoginPermission: Equatable, Sendable {
    /// Under way from now on, until it is ended by this key.
    case go(Lockout.Key)
    /// Others with the same answers have to end first. The asker is told when there is something to know.
    case wait(FlightTicket)
    /// Not before so many milliseconds have passed.
    case held(refusals: Int, milliseconds: Int)
    /// There is no room for another that is under way, or waits.
    case full
}

/// Which logins are under way, and which wait for others with the same answers. Whoever came first begins first; where only
/// its session has no room yet, those behind it go ahead.
///
/// A waiter is what has to be told once its turn has come, or a pause has begun. A login whose turn has come counts as under
/// way at once: nobody else can begin before its waiter hears of it.
public struct LoginLedger<Waiter> {
    fileprivate struct Place {
        let key: Lockout.Key
        let limits: Lockout.Limits
        /// The login was granted, and goes on.
        let goesOn: Bool
        let waiter: Waiter
        var permission = Lockout.Permission.later
    }

    private var lockout: Lockout
    private var places: [FlightTicket: Place] = [:]
    /// Those who wait, by the answers, in the order in which they came.
    private var queues: [UInt128: [FlightTicket]] = [:]
    private var issued: UInt64 = 0
    private let capacity: Int

    /// - Parameter capacity: how many may wait.
    public init(_ lockout: Lockout = Lockout(), capacity: Int = 4096) {
        self.lockout = lockout
        self.capacity = capacity
    }

    /// Those who wait, or have not looked yet what came of that.
    public var waiting: Int { places.count }

    /// - Parameter goesOn: it was granted, and AM is to be told more.
    public mutating func begin(
        _ key: Lockout.Key, _ limits: Lockout.Limits, goesOn: Bool = false, _ waiter: Waiter, now: Int
    ) -> LoginPermission {
        let permission = lockout.begin(key, limits, again: goesOn, now: now)
        guard permission == .later else { return Self.said(permission, key) }
        guard places.count < capacity else { return .full }
        issued += 1
        let ticket = FlightTicket(.turn, issued)
        places[ticket] = Place(key: key, limits: limits, goesOn: goesOn, waiter: waiter)
        queues[key.answers, default: []].append(ticket)
        return .wait(ticket)
    }

    /// What became of a login that waits. Once it need not wait any more, its place is gone.
    public mutating func look(_ ticket: FlightTicket) -> LoginPermission {
        guard let place = places[ticket] else { return .full }
        guard place.permission != .later else { return .wait(ticket) }
        places[ticket] = nil
        return Self.said(place.permission, place.key)
    }

    private static func said(_ permission: Lockout.Permission, _ key: Lockout.Key) -> LoginPermission {
        switch permission {
        case .go: .go(key)
        case .held(let refusals, let milliseconds): .held(refusals: refusals, milliseconds: milliseconds)
        case .later, .full: .full
        }
    }

    /// Nobody waits there any more. A turn that had come passes to the next.
    /// - Returns: who is to be told, as everywhere below.
    public mutating func leave(_ ticket: FlightTicket, now: Int) -> [(FlightTicket, Waiter)] {
        guard let place = places.removeValue(forKey: ticket) else { return [] }
        switch place.permission {
        case .later:
            queues[place.key.answers]?.removeAll { $0 == ticket }
            if queues[place.key.answers]?.isEmpty == true { queues[place.key.answers] = nil }
            return []
        case .go where place.goesOn: return grant(place.key, place.limits, now: now)
        case .go: return end(place.key, .unjudged, place.limits, now: now)
        case .held, .full: return []
        }
    }

    public mutating func grant(
        _ key: Lockout.Key, _ limits: Lockout.Limits, now: Int
    ) -> [(FlightTicket, Waiter)] {
        lockout.grant(key, limits, now: now)
        return advance(key.answers, now)
    }

    public mutating func end(
        _ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool = false, _ limits: Lockout.Limits, now: Int
    ) -> [(FlightTicket, Waiter)] {
        lockout.end(key, verdict, granted: granted, limits, now: now)
        return advance(key.answers, now)
    }

    /// Has those begin that may by now, in the order in which they came.
    private mutating func advance(_ answers: UInt128, _ now: Int) -> [(FlightTicket, Waiter)] {
        guard let queue = queues.removeValue(forKey: answers) else { return [] }
        var told: [(FlightTicket, Waiter)] = []
        var left: [FlightTicket] = []
        for ticket in queue {
            guard var place = places[ticket] else { continue }
            place.permission = lockout.begin(place.key, place.limits, again: place.goesOn, now: now)
            if place.permission == .later {
                left.append(ticket)
            } else {
                places[ticket] = place
                told.append((ticket, place.waiter))
            }
        }
        if !left.isEmpty { queues[answers] = left }
        return told
    }

    // MARK: what is counted

    /// Why none begins now; nil where one may begin, or has to wait for others alone.
    public func pause(_ key: Lockout.Key, _ limits: Lockout.Limits, now: Int) -> LoginPermission? {
        lockout.pause(key, limits, now: now).map { Self.said($0, key) }
    }

    public func entries(now: Int) -> [Lockout.Entry] { lockout.entries(now: now) }

    /// Forgets what counts against logins: all of them, or the one of that id.
    /// - Returns: how many, and who is to be told.
    public mutating func clear(_ id: String?, now: Int) -> (count: Int, turns: [(FlightTicket, Waiter)]) {
        let count = lockout.clear(id)
        return (count, Array(queues.keys).flatMap { advance($0, now) })
    }
}

extension LoginLedger: Sendable where Waiter: Sendable {}
extension LoginLedger.Place: Sendable where Waiter: Sendable {}
