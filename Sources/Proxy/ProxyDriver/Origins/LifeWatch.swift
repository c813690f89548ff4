import ProxyCore

/// Tells a slow origin from a dead one on a shared connection. If exchanges wait and nothing arrives, a PING is due. If it is not
/// acknowledged either, the origin is gone. Times in milliseconds of the loop's clock.
struct LifeWatch {
    enum Finding {
        case nothing
        /// A PING is due.
        case ask
        /// The origin is gone.
        case gone
    }

    private enum State {
        case heard
        /// A PING was sent at this time.
        case asked(at: Int)
        /// The PING is overdue. Input that arrived while the loop was busy is read before the verdict.
        case overdue
    }

    struct Bounds {
        /// How long after input the origin counts as alive.
        var fresh = 5_000
        /// How long a waiting request waits for the acknowledgement.
        var probe = 1_000
        /// The maximum time for an acknowledgement.
        var patience = 5_000
    }

    /// The interval between PINGs without messages in between. Servers end connections that send more.
    private static let interval = 300_000

    private var state = State.heard
    private var heardAt: Int
    private var nextPing = Int.min
    /// The bytes in flight at the last check of a PING.
    private var untaken = Int.max

    init(now: Int) { heardAt = now }

    /// The silence before a PING: half of the exchange's timeout, so that time is left for the response.
    static func quiet(_ timeouts: Timeouts) -> Int {
        min(15_000, max(1_000, min(timeouts.idle, timeouts.response) / 2))
    }

    /// True if input arrived recently.
    func isFresh(_ now: Int, _ bounds: Bounds) -> Bool { now - heardAt < bounds.fresh }

    /// True if a PING is overdue.
    func isDoubtful(_ now: Int, _ bounds: Bounds) -> Bool {
        switch state {
        case .heard: false
        case .asked(let time): now - time >= bounds.probe
        case .overdue: true
        }
    }

    var isAsked: Bool { if case .heard = state { false } else { true } }

    /// Records input.
    mutating func heard(_ now: Int) {
        heardAt = now
        state = .heard
    }

    /// Records that the input was part of a message.
    mutating func messageCame() { nextPing = .min }

    /// Records a PING.
    mutating func asks(_ now: Int) {
        state = .asked(at: now)
        nextPing = now + Self.interval
        untaken = .max
    }

    /// - Parameters:
    /// - isAwaited: true if an exchange waits for a response.
    /// - quiet: the silence before a PING.
    /// - untaken: the bytes in flight before the PING; while they decrease, the origin is alive.
    mutating func look(now: Int, isAwaited: Bool, quiet: Int, _ bounds: Bounds, untaken: @autoclosure () -> Int)
        -> Finding
    {
        switch state {
        case .heard:
            guard isAwaited, now - heardAt >= quiet, now >= nextPing else { return .nothing }
            asks(now)
            return .ask
        case .asked(let time):
            guard now - time >= min(quiet, bounds.patience) else { return .nothing }
            let left = untaken()
            let isTaking = left > 0 && left < self.untaken
            self.untaken = left
            state = isTaking ? .asked(at: now) : .overdue
            return .nothing
        case .overdue: return .gone
        }
    }
}
