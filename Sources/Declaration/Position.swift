/// A place in the file, both numbers from 1; columns count Unicode scalars.
public struct Position: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let start = Position(line: 1, column: 1)

    public static func < (left: Position, right: Position) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
