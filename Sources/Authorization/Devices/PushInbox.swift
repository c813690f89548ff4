/// Pushes that were delivered and have no answer yet, and the pages that wait for one, within bounds.
public struct PushInbox: Sendable {
    private struct Waiting {
        let message: PushMessage
        /// In milliseconds.
        let arrived: Int
        let expires: Int
    }

    /// A page of AM's that waits for the push which its own conversation caused.
    struct Page: Equatable, Sendable {
        let id = UInt64.random(in: 0 ... .max)
        /// When AM was asked for what it answered with the page: no push of its conversation came before. In milliseconds.
        let since: Int
        /// When the page came.
        let began: Int
    }

    private struct Seat {
        let page: Page
        var devices: Set<String> = []
        /// The number that the page shows.
        var number: String?
        var until = 0
        /// So many pushes could not be told apart, and none of them is answered.
        var refused: Int?
    }

    enum Claim: Equatable, Sendable {
        case none
        case push(PushMessage)
        /// So many pushes have come, more than there are pages, and nothing tells which of them a page caused.
        case refused(Int)
    }

    private var waiting: [Waiting] = []
    /// Messages that were here, by what is signed of them, until nobody would take them any more: a delivery may come twice, and
    /// what stands beside the signature tells nothing.
    private var seen: [[UInt8]: Int] = [:]
    private var seats: [UInt64: Seat] = [:]
    static let mostOfOneDevice = 8
    static let most = 1024
    static let mostSeen = 8 * most
    /// Milliseconds in which the push of a page comes, and that of another page beside it.
    static let settling = 500
    /// Milliseconds for which a page is known whose conversation was not heard of again.
    static let patience = 10_000

    public init() {}

    var isEmpty: Bool { waiting.isEmpty }

    public enum Taking: Equatable, Sendable {
        case taken
        /// It is here, or was.
        case known
        case full
    }

    /// - Parameter now: in milliseconds.
    public mutating func take(_ message: PushMessage, now: Int) -> Taking {
        forget(now)
        if seen.values.contains(where: { $0 <= now }) { seen = seen.filter { $0.value > now } }
        guard seen[message.fingerprint] == nil else { return .known }
        guard waiting.count < Self.most,
            waiting.count(where: { $0.message.device == message.device }) < Self.mostOfOneDevice
        else { return .full }
        // each of them was AM's: whoever has seen so many may forget the one that ends first
        if seen.count >= Self.mostSeen, let first = seen.min(by: { $0.value < $1.value }) { seen[first.key] = nil }
        seen[message.fingerprint] = now + message.memory * 1000
        waiting.append(Waiting(message: message, arrived: now, expires: now + message.lifetime * 1000))
        return .taken
    }

    // MARK: pages

    /// The push of a device that a page caused and that came so long ago; it is no other page's then.
    ///
    /// What the page shows of its push is a number, and without one nothing. A push that came before AM was asked is another's.
    /// Where more have come than pages may have caused, somebody else logs in at the same time: all of them are refused.
    /// - Parameter number: the one that the page shows.
    mutating func claim(_ device: String, for page: Page, _ number: String?, after delay: Int, now: Int) -> Claim {
        forget(now)
        if let count = seats[page.id]?.refused { return .refused(count) }
        seat(page, at: device, number, now)
        let rivals = seats.values.filter {
            $0.refused == nil && $0.number == number && $0.devices.contains(device)
        }
        let found = waiting.indices.filter { index in
            let push = waiting[index]
            return push.message.device == device && push.arrived >= page.since && push.message.fits(number)
        }
        guard let last = found.last, number != nil || now - page.began >= Self.settling else { return .none }
        // each of them has a page of its own, which AM was asked for before it came
        let areOwn = found.enumerated().allSatisfy { place, index in
            rivals.count { $0.page.since <= waiting[index].arrived } > place
        }
        guard areOwn else {
            // the page of the newest may be on its way
            guard now - waiting[last].arrived >= Self.settling else { return .none }
            for seat in rivals { seats[seat.page.id]?.refused = found.count }
            for index in found.reversed() { waiting.remove(at: index) }
            return .refused(found.count)
        }
        guard let index = found.first(where: { now - waiting[$0].arrived >= delay }) else { return .none }
        withdraw(page)
        return .push(waiting.remove(at: index).message)
    }

    private mutating func seat(_ page: Page, at device: String, _ number: String?, _ now: Int) {
        if seats[page.id] == nil, seats.count >= Self.most,
            let first = seats.min(by: { $0.value.until < $1.value.until })
        {
            seats[first.key] = nil
        }
        var seat = seats[page.id] ?? Seat(page: page)
        seat.devices.insert(device)
        (seat.number, seat.until) = (number, now + Self.patience)
        seats[page.id] = seat
    }

    /// A page waits no more.
    mutating func withdraw(_ page: Page) { seats[page.id] = nil }

    private mutating func forget(_ now: Int) {
        waiting.removeAll { $0.expires <= now }
        if seats.values.contains(where: { $0.until <= now }) { seats = seats.filter { $0.value.until > now } }
    }
}

extension PushMessage {
    /// Whether a page that shows that number, or none, may have caused it.
    fileprivate func fits(_ number: String?) -> Bool {
        number.map { numbers.contains($0) } ?? numbers.isEmpty
    }
}
