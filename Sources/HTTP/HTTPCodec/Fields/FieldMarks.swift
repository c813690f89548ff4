/// A set of the field names that a table may contain. It may contain too many, never too few, so an absent field needs no
/// search.
public struct FieldMarks: Equatable, Sendable {
    /// One bit for each `FieldName`.
    @usableFromInline var known: UInt64 = 0
    /// One bit for all names of some lengths and first letters.
    @usableFromInline var shapes: UInt64 = 0

    public init() {}

    private init(known: UInt64, shapes: UInt64) {
        self.known = known
        self.shapes = shapes
    }

    /// The mark of one name, whatever its case.
    public init(named name: some StringProtocol) {
        shapes = Self.shape(count: name.utf8.count, first: name.utf8.first ?? 0)
    }

    @inline(__always)
    mutating func insert(_ name: FieldName, count: Int, first: UInt8) {
        known |= Self.bit(name)
        shapes |= Self.shape(count: count, first: first)
    }

    public func union(_ other: FieldMarks) -> FieldMarks {
        FieldMarks(known: known | other.known, shapes: shapes | other.shapes)
    }

    public func intersection(_ other: FieldMarks) -> FieldMarks {
        FieldMarks(known: known & other.known, shapes: shapes & other.shapes)
    }

    @inline(__always)
    func mayHold(_ name: FieldName) -> Bool { known & Self.bit(name) != 0 }

    /// Fewer bits of the names by which fields are asked for: those of one set are among those of any other that may hold it.
    public var digest: UInt32 { UInt32(truncatingIfNeeded: shapes | shapes &>> 32) }

    /// False where one of the others is surely not among these.
    @inlinable
    public func mayHold(_ others: FieldMarks) -> Bool { others.known & ~known | others.shapes & ~shapes == 0 }

    @inline(__always)
    private static func bit(_ name: FieldName) -> UInt64 { 1 &<< UInt64(name.rawValue) }

    /// Five bits of a letter are the same in both cases.
    @inline(__always)
    private static func shape(count: Int, first: UInt8) -> UInt64 {
        1 &<< (UInt64(truncatingIfNeeded: count) &* 5 &+ UInt64(first & 0x1F))
    }
}
