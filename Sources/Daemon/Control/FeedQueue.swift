internal import Formats

/// The bounded queue of events for one follower. Events without room are dropped and counted. The follower is told the count
/// after it has read the earlier events.
public struct FeedQueue: Sendable {
    /// The limit in bytes, including bytes that the connection has not sent yet.
    private let most: Int
    private var waiting: [UInt8] = []
    private var underWay = 0
    private var lost = 0
    /// True if no more events follow.
    public private(set) var isOver = false

    public init(most: Int = ControlLimits.feed) { self.most = most }

    /// - Returns: true if the sender has to be woken.
    public mutating func add(_ event: ServerEvent) -> Bool {
        guard !isOver else { return false }
        let wasIdle = waiting.isEmpty && lost == 0
        // after one loss the next events are dropped too, so that there is a single gap where the count is
        let queued = waiting.count + underWay
        // an event that is larger than the limit goes alone
        if lost > 0 || queued > 0 && queued + event.bytes.count > most {
            lost += 1
        } else {
            waiting += event.bytes
        }
        return wasIdle
    }

    /// - Returns: true if the sender has to be woken.
    public mutating func end() -> Bool {
        defer { isOver = true }
        return !isOver
    }

    /// Takes the queued events to be sent. Everything before has been sent.
    public mutating func take() -> [UInt8] {
        var out: [UInt8] = []
        swap(&out, &waiting)
        if lost > 0 {
            out += ServerEvent("lost", data: ["count": .integer(lost)]).bytes
            lost = 0
        }
        underWay = out.count
        return out
    }

    /// Records that the taken events were sent.
    public mutating func sent() { underWay = 0 }
}
