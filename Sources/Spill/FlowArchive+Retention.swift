public import Journal

extension FlowArchive {
    /// The flows, and the pages of the file, that one slice removes: some milliseconds of work.
    private static let slice = 256
    /// The free pages that stay for new flows.
    private static let spare = 256

    /// Removes a slice of the flows beyond the limits of age and size.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: whether more may have to be removed.
    public func retain(_ limits: JournalStore.DiskLimits, now: Int) throws(SQLiteFault) -> Bool {
        let excess = try size() - limits.size
        let last = try lastToGo(excess, before: now - limits.age)
        if let last {
            let removal = try database.statement("DELETE FROM flows WHERE sequence <= ?")
            try removal.run(.integer(last))
            count -= database.changes
            // a secret is kept as long as the flows of the time when it first occurred
            try database.statement("DELETE FROM secrets WHERE sequence <= ?").run(.integer(last))
        }
        let free = try database.number("PRAGMA freelist_count")
        if free > Self.spare { try database.run("PRAGMA incremental_vacuum(\(Self.slice))") }
        return last != nil || free > Self.spare + Self.slice
    }

    /// The last flow that this slice removes.
    private func lastToGo(_ excess: Int, before oldest: Int) throws(SQLiteFault) -> Int? {
        var last: Int?
        var freed = 0
        let reading = try database.statement(
            "SELECT sequence, began, length(packed) FROM flows ORDER BY sequence LIMIT \(Self.slice)")
        try reading.forEach { (row: borrowing SQLiteRow) throws(SQLiteFault) in
            guard freed < excess || row.integer(1) < oldest else { return false }
            last = row.integer(0)
            freed += row.integer(2)
            return true
        }
        return last
    }
}
