import ProxyCore

/// Tells an origin that is slow from one that is gone, on a connection that carries many exchanges: where somebody waits and nothing
/// comes, a PING is due, and where nothing answers it either, nobody is there. Times in milliseconds of the loop's clock.
struct LifeWatch {
    enum Finding {
        case nothing
        /// A PING is due.
        case ask
        /// Nobody is there.
        case gone
    }

    private enum State {
        case heard
        /// A PING went out then.
        case asked(at: Int)
        /// It is out for too long. What came while the loop was held up is read before anybody draws a conclusion.
        case overdue
    }

    struct Bounds {
        /// As long after something came, nobody asks whether somebody is there.
        var fresh = 5_000
        /// Whoever waits to know it goes elsewhere after that.
        var probe = 1_000
        /// The longest that an answer may take.
        var patience = 5_000
    }

    /// Between two PINGs that nothing but their answers came for: servers end connections for more of them.
    private static let interval = 300_000

    private var state = State.heard
    private var heardAt: Int
    private var nextPing = Int.min
    /// What the origin had still to take when a PING that is out was looked at last.
    private var untaken = Int.max

    init(now: Int) { heardAt = now }

    /// How long it may be silent before it is asked: half of what an exchange has, so that there is time left for the answer.
    static func quiet(_ timeouts: Timeouts) -> Int {
        min(15_000, max(1_000, min(timeouts.idle, timeouts.response) / 2))
    }

    /// Something was heard lately.
    func isFresh(_ now: Int, _ bounds: Bounds) -> Bool { now - heardAt < bounds.fresh }

    /// A PING is out that should have been answered by now.
    func isDoubtful(_ now: Int, _ bounds: Bounds) -> Bool {
        switch state {
        case .heard: false
        case .asked(let time): now - time >= bounds.probe
        case .overdue: true
        }
    }

    var isAsked: Bool { if case .heard = state { false } else { true } }

    /// Bytes came.
    mutating func heard(_ now: Int) {
        heardAt = now
        state = .heard
    }

    /// They were part of a message.
    mutating func messageCame() { nextPing = .min }

    /// A PING goes out.
    mutating func asks(_ now: Int) {
        state = .asked(at: now)
        nextPing = now + Self.interval
        untaken = .max
    }

    /// - Parameters:
    ///   - isAwaited: somebody waits for an answer.
    ///   - quiet: from when on the origin is asked.
    ///   - untaken: bytes on their way to the origin, which a PING waits behind: as long as they become fewer, somebody takes them.
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
