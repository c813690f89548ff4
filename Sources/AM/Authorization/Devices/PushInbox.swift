/// Delivered pushes without an answer, and the pages that wait for one. Both are bounded.
public struct PushInbox: Sendable {
    private struct Waiting {
        let message: PushMessage
        /// Milliseconds.
        let arrived: Int
        let expires: Int
    }

    /// A waiting page of AM. It waits for the push that its own conversation caused.
    struct Page: Equatable, Sendable {
        let id = UInt64.random(in: 0 ... .max)
        /// The time of the call that returned the page, in milliseconds. Its push arrives later than that.
        let since: Int
        /// The time the page arrived.
        let began: Int
    }

    private struct Seat {
        let page: Page
        var devices: Set<String> = []
        /// The number that the page shows.
        var number: String?
        var until = 0
        /// The count of pushes that could not be told apart; none of them is answered.
        var refused: Int?
    }

    enum Claim: Equatable, Sendable {
        case none
        case push(PushMessage)
        /// More pushes than pages have arrived, and nothing shows which of them a page caused.
        case refused(Int)
    }

    private var waiting: [Waiting] = []
    /// Fingerprints of received messages, until they expire everywhere. A message may be delivered twice, so only its signed part
    /// counts.
    private var seen: [[UInt8]: Int] = [:]
    private var seats: [UInt64: Seat] = [:]
    static let mostOfOneDevice = 8
    static let most = 1024
    static let mostSeen = 8 * most
    /// How long to wait for a page's push and for those of rival pages, in milliseconds.
    static let settling = 500
    /// How long a page is remembered without news of its conversation, in milliseconds.
    static let patience = 10_000

    public init() {}

    var isEmpty: Bool { waiting.isEmpty }

    public enum Taking: Equatable, Sendable {
        case taken
        /// The message is waiting, or was before.
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
        // all of them were signed for AM, so the entry that expires first can be dropped
        if seen.count >= Self.mostSeen, let first = seen.min(by: { $0.value < $1.value }) { seen[first.key] = nil }
        seen[message.fingerprint] = now + message.memory * 1000
        waiting.append(Waiting(message: message, arrived: now, expires: now + message.lifetime * 1000))
        return .taken
    }

    // MARK: pages

    /// Takes the push that a page caused on a device, `delay` after it arrived. The push then belongs to no other page.
    ///
    /// A page shows at most a number of its push. A push that arrived before the call to AM belongs to another page. If there are
    /// more pushes than pages, somebody else logs in at the same time, so all of them are refused.
    /// - Parameter number: the number that the page shows.
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
        // each push needs a page of its own that AM was asked for before
        let areOwn = found.enumerated().allSatisfy { place, index in
            rivals.count { $0.page.since <= waiting[index].arrived } > place
        }
        guard areOwn else {
            // the page of the newest push may still be on its way
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

    /// Removes a page that waits no more.
    mutating func withdraw(_ page: Page) { seats[page.id] = nil }

    private mutating func forget(_ now: Int) {
        waiting.removeAll { $0.expires <= now }
        if seats.values.contains(where: { $0.until <= now }) { seats = seats.filter { $0.value.until > now } }
    }
}

extension PushMessage {
    /// Whether a page with this number, or without one, may have caused the push.
    fileprivate func fits(_ number: String?) -> Bool {
        number.map { numbers.contains($0) } ?? numbers.isEmpty
    }
}
