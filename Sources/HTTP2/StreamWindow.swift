/// What the peer may send of one stream's body before any of it has been used, in bytes, and what became of what it sent.
struct StreamWindow {
    /// What a stream has as soon as its body is not a small one, if there is that much: less slows bodies of middling size.
    static let usual = 64 << 10
    /// What it has at most because its bytes are taken, however short the way.
    static let most = 256 << 10

    private(set) var size = 0
    /// The peer may still send.
    private(set) var isOpen = false
    /// Bytes that have come.
    private(set) var received = 0
    /// Bytes that came and have not been used.
    private(set) var unused = 0
    /// Bytes that were used since the window became as large as it is.
    private var used = 0

    mutating func begin(_ size: Int) {
        self.size = size
        isOpen = true
    }

    mutating func end() { isOpen = false }

    mutating func came(_ count: Int) {
        received += count
        unused += count
    }

    mutating func use(_ count: Int) {
        unused -= count
        used += count
    }

    /// As much as it lets come was used since it became as large as it is, and it may become larger.
    var isUsed: Bool { used >= size && size < Self.most }
    /// And nothing waits.
    var isTaken: Bool { unused == 0 && isUsed }

    mutating func grow(to size: Int) {
        self.size = size
        used = 0
    }
}
