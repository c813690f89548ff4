/// Opens the window of one stream further over a long way, where its size is what holds a large body up: as much as a window
/// has comes once in a round trip, and no more. A PING tells how long that is and what comes meanwhile, as TCP finds out by
/// itself. It only grows behind bytes that were taken, for one stream at a time, and no further than leaves the others
/// a window's worth of what the connection has.
struct WindowGrowth {
    private enum State {
        case idle
        /// A PING is out since then; so much of the body has come in the meantime.
        case sampling(since: Int, bytes: Int)
    }

    /// What a stream may have at most.
    static let most = Session.connectionWindow - Session.streamWindow
    /// Milliseconds there and back that are a long way.
    private static let long = 4
    /// Milliseconds until it is looked at again where there was no need to grow.
    private static let pause = 500
    /// A body of which less has come is none of the large ones.
    private static let large = Int(Session.streamWindow) / 2

    /// Whose body it is about; 0: nobody's.
    private(set) var stream: Int32 = 0
    private(set) var window = Session.streamWindow
    private var state = State.idle
    private var received = 0
    private var nextSample = 0

    /// Begins with a body; what was granted to another one before stays with that.
    mutating func begin(_ stream: Int32) {
        self.stream = stream
        window = Session.streamWindow
        state = .idle
        received = 0
    }

    /// So many bytes of that body came.
    /// - Returns: true where a PING is to be sent now.
    mutating func came(_ count: Int, now: Int) -> Bool {
        received += count
        switch state {
        case .sampling(let since, let bytes):
            state = .sampling(since: since, bytes: bytes + count)
            return false
        case .idle:
            guard received >= Self.large, window < Self.most, now >= nextSample else { return false }
            state = .sampling(since: now, bytes: 0)
            return true
        }
    }

    /// The PING was answered.
    /// - Returns: how large the window is to be from here on; nil where it stays.
    mutating func answered(now: Int) -> Int32? {
        guard case .sampling(let since, let bytes) = state else { return nil }
        state = .idle
        guard now - since >= Self.long, bytes >= Int(window) / 2 else {
            nextSample = now + Self.pause
            return nil
        }
        window = min(window * 2, Self.most)
        return window
    }
}
