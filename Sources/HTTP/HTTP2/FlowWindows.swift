/// The receive windows of a connection in bytes (RFC 9113 §5.2). Every stream starts with the same window, and the connection's
/// window covers all of them. So streams that nobody reads do not block others.
struct FlowWindows {
    /// A stream's window: the protocol's default, which the peer knows from the start.
    static let stream = 65_535
    /// The limit of additional window of a connection's streams together.
    static let mostSpare = 4 << 20
    /// The amount of used bytes that is granted to the connection at once.
    static let grain = 256 << 10

    private let maxStreams: Int
    private let budget: WindowBudget
    /// The windows of open streams, and the unused bytes of ended ones.
    private var held = 0
    private var spare = mostSpare
    /// The received and unused bytes of all streams.
    private(set) var unused = 0

    init(maxStreams: Int, _ budget: WindowBudget) {
        self.maxStreams = maxStreams
        self.budget = budget
    }

    /// The connection's window.
    var connection: Int { maxStreams * Self.stream + Self.mostSpare + Self.grain }

    /// True if the window covers another stream.
    var hasRoom: Bool { held + Self.stream <= maxStreams * Self.stream + Self.mostSpare - spare }

    mutating func begin(_ window: inout StreamWindow) {
        window = StreamWindow(size: Self.stream)
        held += Self.stream
    }

    mutating func end(_ window: inout StreamWindow) {
        guard window.size > 0 else { return }
        spare += window.size - Self.stream
        budget.left += window.size - Self.stream
        held += window.unused - window.size
        window.size = 0
    }

    mutating func came(_ count: Int, _ window: inout StreamWindow) {
        unused += count
        window.unused += count
        window.received += count
        if window.size == 0 { held += count }
    }

    mutating func use(_ count: Int, _ window: inout StreamWindow) {
        unused -= count
        window.unused -= count
        if window.size == 0 { held -= count }
    }

    /// Enlarges a stream's window as far as there is room.
    /// - Returns: the additional bytes.
    mutating func grow(_ window: inout StreamWindow, to size: Int) -> Int {
        // unused bytes of ended streams reduce the room
        let more = min(size - window.size, spare, maxStreams * Self.stream + Self.mostSpare - held, budget.left)
        guard window.size > 0, more > 0 else { return 0 }
        spare -= more
        budget.left -= more
        held += more
        window.size += more
        window.received = 0
        return more
    }

    /// Returns the additional window when the connection ends.
    func end() { budget.left += Self.mostSpare - spare }
}

/// The limit of additional window for all connections of a loop, in bytes, because clients may open many connections.
public final class WindowBudget {
    static let most = 32 << 20

    fileprivate(set) var left = most

    public init() {}
}

/// The receive window of one stream in bytes.
struct StreamWindow {
    /// 0 after the stream has ended.
    fileprivate(set) var size = 0
    /// The bytes received since the window has this size.
    fileprivate(set) var received = 0
    /// The received and unused bytes.
    fileprivate(set) var unused = 0

    /// True if a full window was received and most of it is used.
    var isOutgrown: Bool { received >= size && unused < size / 2 }
}
