internal import CSQLite

/// Why the database did not do what it was asked for.
public struct SQLiteFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    public let code: Int32
    public let description: String

    init(code: Int32, _ words: String) {
        self.code = code
        description = words
    }

    /// The file is none of SQLite's, or is damaged: it does not get better by itself.
    public var isDamage: Bool { [SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_FORMAT].contains(code & 0xFF) }
    /// The disk, or what may be used of it, has no room; what is there can be read all the same.
    public var isFull: Bool { code & 0xFF == SQLITE_FULL }
}
