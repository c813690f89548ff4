/// How much of bodies the peer may send on a connection before any of it has been used, in bytes (RFC 9113 §5.2). Every stream begins
/// with the same window, and the connection's window holds all of them: streams whose bytes nobody takes stop no other.
struct FlowWindows {
    /// A stream's window: the protocol's own, so that the peer knows it from the start.
    static let stream = 65_535
    /// What the streams of a connection may have beyond that, together.
    static let mostSpare = 4 << 20
    /// Used bytes of which the peer is told at once for the connection.
    static let grain = 256 << 10

    private let maxStreams: Int
    private let budget: WindowBudget
    /// Windows of streams, and what waits of streams that have ended.
    private var held = 0
    private var spare = mostSpare
    /// Bytes of all streams that have come and wait.
    private(set) var unused = 0

    init(maxStreams: Int, _ budget: WindowBudget) {
        self.maxStreams = maxStreams
        self.budget = budget
    }

    /// The connection's.
    var connection: Int { maxStreams * Self.stream + Self.mostSpare + Self.grain }

    /// Another stream may begin: the window holds it, too.
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

    /// Makes a stream's window larger, as far as there is room.
    /// - Returns: by how much.
    mutating func grow(_ window: inout StreamWindow, to size: Int) -> Int {
        // what waits of streams that have ended may have been another's share of that
        let more = min(size - window.size, spare, maxStreams * Self.stream + Self.mostSpare - held, budget.left)
        guard window.size > 0, more > 0 else { return 0 }
        spare -= more
        budget.left -= more
        held += more
        window.size += more
        window.received = 0
        return more
    }

    /// The connection is no more.
    func end() { budget.left += Self.mostSpare - spare }
}

/// What the connections of one loop have beyond the windows that all streams have, in bytes: clients may open any number of connections.
public final class WindowBudget {
    static let most = 32 << 20

    fileprivate(set) var left = most

    public init() {}
}

/// What the peer may send on one stream, in bytes.
struct StreamWindow {
    /// 0 once the stream has ended.
    fileprivate(set) var size = 0
    /// What has come since the window has that size.
    fileprivate(set) var received = 0
    /// What has come and waits.
    fileprivate(set) var unused = 0

    /// All that it let come has come, and is being used.
    var isOutgrown: Bool { received >= size && unused < size / 2 }
}
