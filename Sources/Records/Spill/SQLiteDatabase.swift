internal import CSQLite

/// An open database file. It owns its pointer and belongs to one thread at a time.
final class SQLiteDatabase {
    private let pointer: OpaquePointer

    /// How long it waits for another reader of the file, in milliseconds.
    private static let patience: Int32 = 2_000

    /// - Parameter path: of an existing file.
    init(_ path: String) throws(SQLiteFault) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw SQLiteFault(code: SQLITE_NOMEM, "there is no memory for the database") }
        pointer = opened
        guard code == SQLITE_OK else { throw fault(code) }
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, Self.patience)
        let defended = usher_sqlite3_defend(opened)
        guard defended == SQLITE_OK else { throw fault(defended) }
    }

    // remaining statements keep it open until they are released
    deinit { sqlite3_close_v2(pointer) }

    /// Runs statements without results.
    func run(_ text: String) throws(SQLiteFault) {
        let code = sqlite3_exec(pointer, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault(code) }
    }

    func statement(_ text: String) throws(SQLiteFault) -> SQLiteStatement {
        var made: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let made else { throw fault(code) }
        return SQLiteStatement(self, made)
    }

    /// Returns the first column of the first row; 0 if there is none.
    func number(_ text: String) throws(SQLiteFault) -> Int {
        var number = 0
        try statement(text).forEach { (row: borrowing SQLiteRow) throws(SQLiteFault) in
            number = row.integer(0)
            return false
        }
        return number
    }

    /// Runs the body in a transaction: all of it takes effect, or nothing.
    func transaction(_ body: () throws(SQLiteFault) -> Void) throws(SQLiteFault) {
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteFault) {
            try body()
            try run("COMMIT")
        } catch {
            // some errors roll back by themselves
            if sqlite3_get_autocommit(pointer) == 0 { _ = sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// The rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(pointer)) }

    func fault(_ code: Int32) -> SQLiteFault {
        SQLiteFault(code: sqlite3_extended_errcode(pointer), String(cString: sqlite3_errmsg(pointer)))
    }
}
