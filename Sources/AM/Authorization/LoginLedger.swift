public import Interception

/// The response to a request for a login.
public enum LoginPermission: Equatable, Sendable {
    /// The login may start. It counts as under way until it is ended with this key.
    case go(Lockout.Key)
    /// Logins with the same answers have to end first. The waiter is notified of a change.
    case wait(WaitingTicket)
    /// Paused for this many milliseconds.
    case held(refusals: Int, milliseconds: Int)
    /// There is no room for another login under way or waiting.
    case full
}

/// The queue of logins that use the same answers, in order of arrival. If only a login's session lacks room, those behind it go
/// first.
///
/// A waiter is notified when its turn has come or a pause begins. A login whose turn has come counts as under way at once, so no
/// other can start before the waiter is notified.
public struct LoginLedger<Waiter> {
    fileprivate struct Place {
        let key: Lockout.Key
        let limits: Lockout.Limits
        /// True if the login was granted and continues.
        let goesOn: Bool
        let waiter: Waiter
        var permission = Lockout.Permission.later
    }

    private var lockout: Lockout
    private var places: [WaitingTicket: Place] = [:]
    /// The waiting logins by answers, in order of arrival.
    private var queues: [UInt128: [WaitingTicket]] = [:]
    private var issued = WaitingTicket.firstNumber()
    private let capacity: Int

    /// - Parameter capacity: the limit of waiting logins.
    public init(_ lockout: Lockout = Lockout(), capacity: Int = 4096) {
        self.lockout = lockout
        self.capacity = capacity
    }

    /// The count of logins that wait, or have not read their result yet.
    public var waiting: Int { places.count }

    /// - Parameter goesOn: true if the login was granted and sends more answers.
    public mutating func begin(
        _ key: Lockout.Key, _ limits: Lockout.Limits, goesOn: Bool = false, _ waiter: Waiter, now: Int
    ) -> LoginPermission {
        let permission = lockout.begin(key, limits, again: goesOn, now: now)
        guard permission == .later else { return Self.said(permission, key) }
        guard places.count < capacity else { return .full }
        issued += 1
        let ticket = WaitingTicket(.turn, issued)
        places[ticket] = Place(key: key, limits: limits, goesOn: goesOn, waiter: waiter)
        queues[key.answers, default: []].append(ticket)
        return .wait(ticket)
    }

    /// The state of a waiting login. Removes its place once the wait is over.
    public mutating func look(_ ticket: WaitingTicket) -> LoginPermission {
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

    /// Removes a waiting login. If its turn had come, the turn passes to the next one.
    /// - Returns: the waiters to notify, as for the methods below.
    public mutating func leave(_ ticket: WaitingTicket, now: Int) -> [(WaitingTicket, Waiter)] {
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
    ) -> [(WaitingTicket, Waiter)] {
        lockout.grant(key, limits, now: now)
        return advance(key.answers, now)
    }

    public mutating func end(
        _ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool = false, _ limits: Lockout.Limits, now: Int
    ) -> [(WaitingTicket, Waiter)] {
        lockout.end(key, verdict, granted: granted, limits, now: now)
        return advance(key.answers, now)
    }

    /// Starts the waiting logins that may start, in order of arrival.
    private mutating func advance(_ answers: UInt128, _ now: Int) -> [(WaitingTicket, Waiter)] {
        guard let queue = queues.removeValue(forKey: answers) else { return [] }
        var told: [(WaitingTicket, Waiter)] = []
        var left: [WaitingTicket] = []
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

    // MARK: counters

    /// The pause that applies now; nil if a login may start or waits for others only.
    public func pause(_ key: Lockout.Key, _ limits: Lockout.Limits, now: Int) -> LoginPermission? {
        lockout.pause(key, limits, now: now).map { Self.said($0, key) }
    }

    public func entries(now: Int) -> [Lockout.Entry] { lockout.entries(now: now) }

    /// Resets all counters, or the one with this id.
    /// - Returns: the number of counters, and the waiters to notify.
    public mutating func clear(_ id: String?, now: Int) -> (count: Int, turns: [(WaitingTicket, Waiter)]) {
        let count = lockout.clear(id)
        return (count, Array(queues.keys).flatMap { advance($0, now) })
    }
}

extension LoginLedger: Sendable where Waiter: Sendable {}
extension LoginLedger.Place: Sendable where Waiter: Sendable {}
