internal import Formats

/// The time of a flow and its phases.
public struct FlowTime: Sendable {
    /// Milliseconds since 1970.
    public let began: Int
    public let duration: Int
    /// Milliseconds of each phase; nil if it did not occur or is unknown.
    public private(set) var waited: Int?
    public private(set) var resolving: Int?
    public private(set) var connecting: Int?
    public private(set) var securing: Int?
    public private(set) var answering: Int?
    public private(set) var receiving: Int?

    public init(_ flow: PackedFlow) {
        began = flow[.began]
        duration = max(0, flow[.duration])
        let marks = [FlowNumber.resolving, .connecting, .securing, .sent, .answered].map { flow.time($0) }
        let known = marks.compactMap { $0 } + [duration]
        // times of an earlier attempt do not apply
        guard zip(known, known.dropFirst()).allSatisfy({ $0 <= $1 }), let sent = marks[3] else { return }
        waited = known[0]
        resolving = Self.between(marks[0], marks[1] ?? marks[2] ?? sent)
        connecting = Self.between(marks[1], marks[2] ?? sent)
        securing = Self.between(marks[2], sent)
        answering = Self.between(sent, marks[4] ?? duration)
        receiving = Self.between(marks[4], duration)
    }

    private static func between(_ start: Int?, _ end: Int) -> Int? { start.map { end - $0 } }

    /// Such as `2026-11-21T09:25:00.123Z`.
    public var text: String {
        let (seconds, milliseconds) = max(0, began).quotientAndRemainder(dividingBy: 1000)
        let digits = "\(1000 + milliseconds)".dropFirst()
        return "\(CalendarTime(seconds).internet.dropLast()).\(digits)Z"
    }
}
