/// How the streams of a connection share its window, so that however many there are whose bytes nobody takes, another one has what it
/// begins with: all that they may send is never more than the connection's window. Each begins with little, and gets more once a
/// body comes, and behind bytes that were taken. In bytes.
struct WindowShares {
    /// What all have together beyond what each begins with: half of the connection's window.
    private static let mostGrown = Session.connectionWindow / 2
    /// No other stream is begun beside so much that nobody takes.
    private static let mostUnused = Session.connectionWindow / 2
    /// Streams that this side can still begin when the others have grown as far as they may.
    private static let spare = 32

    /// What a stream begins with.
    let first: Int
    /// Streams that the peer may have begun at a time; nil where this side begins them.
    private let peersStreams: Int?
    /// Streams whose peer may still send.
    private var open = 0
    private var grown = 0
    /// What one of them has beside what they share, of what has grown.
    private var wide = 0
    /// The same, once that one has ended: room for what is left of it.
    private var cover = 0
    /// Bytes of streams that have ended, which nobody has used.
    private var left = 0
    /// Bytes of all streams that nobody has used.
    private(set) var unused = 0

    /// - Parameter peersStreams: how many streams the peer may have begun at a time; nil where this side begins them.
    init(peersStreams: Int?) {
        self.peersStreams = peersStreams
        first = min(4 << 10, Session.connectionWindow / 4 * 3 / max(peersStreams ?? 1, 1))
    }

    mutating func begin(_ window: inout StreamWindow) {
        window.begin(first)
        open += 1
    }

    /// The peer sends no more on it.
    mutating func end(_ window: inout StreamWindow) {
        guard window.isOpen else { return }
        window.end()
        open -= 1
        grown -= window.size - first
        left += window.unused
    }

    mutating func came(_ count: Int, _ window: inout StreamWindow) {
        unused += count
        if window.isOpen { window.came(count) } else { left += count }
    }

    /// So many bytes came of a stream that is no more.
    mutating func cameLate(_ count: Int) {
        unused += count
        left += count
    }

    mutating func use(_ count: Int, _ window: inout StreamWindow) {
        guard window.isOpen else { return useLeft(count) }
        unused -= count
        window.use(count)
    }

    /// Bytes of a stream that is no more have been used.
    mutating func useLeft(_ count: Int) {
        unused -= count
        left -= count
    }

    /// What may come, or has, of what they share, without anything being used.
    private var granted: Int { open * first + grown - wide + max(left - cover, 0) }

    /// What those that grow leave to streams that begin later.
    private var kept: Int { (peersStreams.map { max($0 - open, 0) } ?? Self.spare) * first }

    /// How much more there is for one that takes as much as it has, or for all of them.
    private func room(isGreedy: Bool) -> Int {
        let isAlone = open == 1 && left == 0
        let most = isAlone && isGreedy ? Int.max : Self.mostGrown - grown + wide
        return max(min(most, Session.connectionWindow - kept - granted), 0)
    }

    /// How large a window may become that takes twice its size; nil where it stays.
    func larger(_ window: StreamWindow, most: Int) -> Int? {
        let room = room(isGreedy: most > StreamWindow.most)
        let size = min(2 * window.size, most, window.size + room)
        return size > window.size ? size : nil
    }

    /// How large a window becomes before anything shows that its bytes are taken; nil where it stays. Something is left for the next one.
    func usual(_ window: StreamWindow) -> Int? {
        let size = min(StreamWindow.usual, window.size + room(isGreedy: false) / 4)
        return size > window.size ? size : nil
    }

    mutating func grow(_ window: inout StreamWindow, to size: Int) {
        grown += size - window.size
        window.grow(to: size)
    }

    /// One of them gets so much beside what they share.
    mutating func widen(by size: Int) { wide = size }

    /// That one has ended: the connection has as much more still.
    mutating func endWide() {
        cover = wide
        wide = 0
    }

    /// The connection has its usual window again.
    mutating func narrow() { cover = 0 }

    /// One more stream leaves each of the others what it may have.
    var hasRoom: Bool { unused < Self.mostUnused && granted + first <= Session.connectionWindow }
}
