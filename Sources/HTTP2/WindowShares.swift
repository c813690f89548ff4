/// How the streams of a connection share its window, so that those whose bytes nobody takes leave something to the others. Each begins
/// with little, and gets more behind bytes that were taken alone. In bytes.
struct WindowShares {
    /// What all have together beyond what each begins with: half of the connection's window.
    static let mostGrown = Session.connectionWindow / 2
    /// What is left by those that grow to streams that begin later.
    static let spare = Session.connectionWindow / 4
    /// Nothing is lent beside so much that nobody takes.
    static let mostUnused = Session.connectionWindow / 2

    /// Streams whose peer may still send.
    private var open = 0
    private var grown = 0
    /// Bytes of streams that have ended, which nobody has used.
    private var left = 0
    /// Bytes of all streams that nobody has used.
    private(set) var unused = 0

    mutating func begin(_ window: inout StreamWindow) {
        window.begin()
        open += 1
    }

    /// The peer sends no more on it.
    mutating func end(_ window: inout StreamWindow) {
        guard window.isOpen else { return }
        window.end()
        open -= 1
        grown -= window.size - StreamWindow.first
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

    /// What may come, or has, without anything being used.
    private var granted: Int { open * StreamWindow.first + grown + left }

    /// How large a window may become that takes twice its size; nil where it stays.
    func larger(_ window: StreamWindow, most: Int) -> Int? {
        let isAlone = open == 1 && left == 0
        let room = min(
            isAlone && most > StreamWindow.most ? .max : Self.mostGrown - grown,
            Session.connectionWindow - Self.spare - granted)
        let size = min(2 * window.size, most, window.size + room)
        return size > window.size ? size : nil
    }

    mutating func grow(_ window: inout StreamWindow, to size: Int) {
        grown += size - window.size
        window.grow(to: size)
    }

    /// One more stream leaves each of the others what it may have: where bytes wait by now that nobody takes, any of them may stall.
    var hasRoom: Bool {
        unused < StreamWindow.first
            || unused < Self.mostUnused && granted + StreamWindow.first <= Session.connectionWindow
    }
}
