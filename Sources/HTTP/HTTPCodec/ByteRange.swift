/// A range of bytes in the buffer of a head, as offsets from its start.
public struct ByteRange: Equatable, Sendable {
    public var start: UInt32
    public var count: UInt32

    @inlinable
    public init(start: Int, end: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.count = UInt32(truncatingIfNeeded: end &- start)
    }

    public static let empty = ByteRange(start: 0, end: 0)

    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var lower: Int { Int(start) }
    @inlinable public var upper: Int { Int(start) &+ Int(count) }
    @inlinable public var indices: Range<Int> { lower..<upper }
}
