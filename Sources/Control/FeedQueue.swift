internal import Formats

/// Events on their way to one follower, within a bound. Those for which there is no room are dropped and counted; the
/// follower is told of them as soon as it has read what came before.
public struct FeedQueue: Sendable {
    /// Bytes that wait, with those that the follower's connection has and could not send yet.
    private let most: Int
    private var waiting: [UInt8] = []
    private var underWay = 0
    private var lost = 0
    /// No event follows those that wait.
    public private(set) var isOver = false

    public init(most: Int = ControlLimits.feed) { self.most = most }

    /// - Returns: whether whoever sends has to be woken.
    public mutating func add(_ event: ServerEvent) -> Bool {
        guard !isOver else { return false }
        let wasIdle = waiting.isEmpty && lost == 0
        // once one is lost, those behind it are, too: the gap is one, and stands where the count is
        if lost > 0 || waiting.count + underWay + event.bytes.count > most {
            lost += 1
        } else {
            waiting += event.bytes
        }
        return wasIdle
    }

    /// - Returns: whether whoever sends has to be woken.
    public mutating func end() -> Bool {
        defer { isOver = true }
        return !isOver
    }

    /// What may go out now that everything before it has.
    public mutating func take() -> [UInt8] {
        var out: [UInt8] = []
        swap(&out, &waiting)
        if lost > 0 {
            out += ServerEvent("lost", data: .object([.init("count", .integer(lost))])).bytes
            lost = 0
        }
        underWay = out.count
        return out
    }

    /// What was taken has gone out.
    public mutating func sent() { underWay = 0 }
}
