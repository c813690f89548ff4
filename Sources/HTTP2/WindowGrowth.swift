/// Finds out where the size of a stream's window is what holds a large body up: as much as a window has comes once in a round
/// trip, and no more. A PING tells how long that is and what comes meanwhile, as TCP finds out by itself. It looks at one stream at a
/// time. Times in milliseconds.
struct WindowGrowth {
    private enum State {
        case idle
        /// A PING is out since then; so much of the body has come in the meantime.
        case sampling(since: Int, bytes: Int)
    }

    /// There and back, a long way.
    private static let long = 4
    /// Until it is looked at again where there was no need for more.
    private static let pause = 500
    /// Bytes a round trip that no window holds up.
    private static let least = StreamWindow.usual / 4
    /// Bytes of a body after which it is found out how long the way is.
    private static let first = 2 << 10

    /// Whose body it is about; 0: nobody's.
    private(set) var stream: Int32 = 0
    private var state = State.idle
    private var begunAt = 0
    private var received = 0
    /// When the last of them came.
    private var lastAt = 0
    private var nextSample = 0
    /// There and back, as it was found last.
    private var roundTrip: Int?

    /// Whether it may be about another body: this one is over, or has little to say, or nothing any more, while the other has more.
    /// Not while a PING is out, whose answer would count for the other.
    /// - Parameters:
    ///   - received: bytes that have come of that other one.
    ///   - isOver: all of this one has come.
    func isFree(for received: Int, isOver: Bool, now: Int) -> Bool {
        guard case .idle = state else { return false }
        if isOver || stream == 0 { return true }
        return received >= StreamWindow.usual && (self.received < StreamWindow.usual || now - lastAt >= Self.pause)
    }

    /// It needs no more, so that it may be about another one.
    mutating func letGo() { stream = 0 }

    mutating func begin(_ stream: Int32, now: Int) {
        self.stream = stream
        state = .idle
        begunAt = now
        lastAt = now
        received = 0
    }

    /// So many bytes of that body came.
    /// - Returns: true where a PING is to be sent now.
    mutating func came(_ count: Int, now: Int) -> Bool {
        received += count
        lastAt = now
        switch state {
        case .sampling(let since, let bytes):
            state = .sampling(since: since, bytes: bytes + count)
            return false
        case .idle:
            // a body of which less has come is none of the large ones
            let enough = roundTrip == nil ? Self.first : StreamWindow.usual
            guard received >= enough, now >= nextSample else { return false }
            state = .sampling(since: now, bytes: 0)
            return true
        }
    }

    /// The PING was answered.
    /// - Parameter window: the body's; nil where all of it has come.
    /// - Returns: true where the window is what holds the body up.
    mutating func answered(_ window: StreamWindow?, now: Int) -> Bool {
        guard case .sampling(let since, let bytes) = state else { return false }
        state = .idle
        let isFirst = roundTrip == nil
        roundTrip = now - since
        guard let window, isFar, bytes >= Self.least else {
            nextSample = isFar && isFirst ? now : now + Self.pause
            // it is the next one's turn that has something to say
            if !isFirst { stream = 0 }
            return false
        }
        // one that still grows by itself, or that whoever takes its bytes holds up just now, is looked at again at once
        // (what was read together with the answer is not used yet)
        guard window.unused < StreamWindow.usual, window.size >= StreamWindow.most || window.isUsed else {
            return false
        }
        nextSample = now + Self.pause
        return bytes >= window.size / 2
    }

    /// The way is known to be long.
    var isFar: Bool { (roundTrip ?? 0) >= Self.long }

    /// The window has grown as far as it does by itself.
    /// - Returns: true where that took so few round trips that it is too small already.
    func outgrew(_ stream: Int32, now: Int) -> Bool {
        guard let roundTrip, isFar, stream == self.stream else { return false }
        return now - begunAt <= 2 * roundTrip
    }

    /// The window was made larger: whether that is enough is looked at.
    mutating func grew() { nextSample = 0 }
}
