/// A place in one of the files; line and column from 1, columns count Unicode scalars.
public struct Position: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int
    /// Which of `Findings.files` it is in.
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
