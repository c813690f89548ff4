/// A position in a file. Line and column start at 1; columns count Unicode scalars.
public struct Position: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int
    /// The index in `Findings.files`.
    public var file = 0

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let start = Position(line: 1, column: 1)

    public static func < (left: Position, right: Position) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}
