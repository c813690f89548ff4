internal import CSQLite

/// A prepared statement, to be run any number of times. It owns its pointer.
final class SQLiteStatement {
    /// The database, which stays open as long as the statement exists.
    private let database: SQLiteDatabase
    private let pointer: OpaquePointer

    init(_ database: SQLiteDatabase, _ pointer: OpaquePointer) {
        self.database = database
        self.pointer = pointer
    }

    deinit { sqlite3_finalize(pointer) }

    /// Runs the statement to its end.
    func run(_ values: SQLiteValue...) throws(SQLiteFault) {
        try start(values)
        defer { end() }
        while try step() {}
    }

    /// Passes the rows to `body` as long as it returns true.
    func forEach(
        _ values: [SQLiteValue] = [], row: (borrowing SQLiteRow) throws(SQLiteFault) -> Bool
    ) throws(SQLiteFault) {
        try start(values)
        defer { end() }
        while try step() {
            guard try row(SQLiteRow(pointer)) else { return }
        }
    }

    private func start(_ values: [SQLiteValue]) throws(SQLiteFault) {
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code =
                switch value {
                case .integer(let number): sqlite3_bind_int64(pointer, place, Int64(number))
                case .text(let text): usher_sqlite3_bind_copied_text(pointer, place, text)
                case .bytes(let bytes):
                    bytes.withUnsafeBytes {
                        usher_sqlite3_bind_copy(pointer, place, $0.baseAddress, UInt64($0.count))
                    }
                }
            guard code == SQLITE_OK else { throw database.fault(code) }
        }
    }

    private func step() throws(SQLiteFault) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw database.fault(code)
        }
    }

    /// Resets the statement; its error was reported in `step`.
    private func end() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }
}

/// A value for a parameter (`?`).
enum SQLiteValue {
    case integer(Int)
    case text(String)
    case bytes([UInt8])
}

/// The current row of a statement, valid until the next step.
struct SQLiteRow: ~Copyable {
    private let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { self.pointer = pointer }

    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }

    func bytes(_ column: Int32) -> [UInt8] {
        let count = Int(sqlite3_column_bytes(pointer, column))
        guard count > 0, let start = sqlite3_column_blob(pointer, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
