import Formats

/// Bytes of the client that are not used yet, and whether to read more.
struct ClientIntake: ~Copyable {
    /// Whether the kept bytes will be used without further bytes of the client.
    enum Proceeding {
        case no
        /// `proceed` was ordered and has not come yet.
        case ordered
        /// `proceed` came, and waits until the client has taken the earlier responses.
        case putOff
    }

    private(set) var pending: [UInt8] = []
    /// The client is not read.
    private(set) var isPaused = false
    /// More bytes follow those that are being read.
    var isMidway = false
    var proceeding = Proceeding.no

    /// Bytes of later requests to keep while one is under way; beyond that the client is not read.
    private static let most = 64 << 10

    var isEmpty: Bool { pending.isEmpty }
    var isFull: Bool { pending.count >= Self.most }
    /// Whether bytes are here that are not read yet.
    var hasMore: Bool { isMidway || !pending.isEmpty }

    mutating func keep(_ bytes: Span<UInt8>) { pending.append(bytes) }

    /// Takes the kept bytes to use them.
    mutating func take() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        return bytes
    }

    /// Keeps the bytes taken before except the first `used`.
    mutating func putBack(_ bytes: consuming [UInt8], used: Int) {
        if used == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.most)
        } else if used > 0 {
            bytes.removeFirst(used)
        }
        swap(&bytes, &pending)
    }

    /// Has the kept bytes used once the last exchange's record is taken.
    mutating func orderProceed(_ out: inout CommandBuffer) {
        proceeding = .ordered
        out.commands.append(.proceed)
    }

    mutating func pause() { isPaused = true }
    mutating func resume() { isPaused = false }
    mutating func discard() { pending = [] }
}
