internal import CSQLite

/// An error of the database.
public struct SQLiteFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    public let code: Int32
    public let description: String

    init(code: Int32, _ words: String) {
        self.code = code
        description = words
    }

    /// Whether the file is damaged or no SQLite file, which is permanent.
    public var isDamage: Bool { [SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_FORMAT].contains(code & 0xFF) }
    /// Whether the disk or the quota is full; reading still works.
    public var isFull: Bool { code & 0xFF == SQLITE_FULL }
}
