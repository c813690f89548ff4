internal import ContentCoding
public import Journal

/// Flows in a database file. It writes many at a time and removes the oldest beyond its limits. Belongs to one thread.
public final class FlowArchive {
    let database: SQLiteDatabase
    private let insertion: SQLiteStatement
    private let counting: SQLiteStatement
    private let sealing: SQLiteStatement
    let run: FlowRun
    /// The number of flows.
    public internal(set) var count: Int
    /// The damage found while reading, if any.
    public internal(set) var damage: SQLiteFault?

    /// The application id of the file: `UshJ`.
    static let application = 0x5573_684A
    /// The version of the tables and of packed flows. A file of another version is set aside unread.
    static let version = 3 << 16 | PackedFlow.layout
    /// The largest unpacked flow in bytes: four bodies of the largest size and the other parts.
    private static let largest = 384 << 20

    /// The result of opening a file.
    public enum Opening {
        case open(FlowArchive)
        /// Another version or another program wrote the file.
        case foreign
    }

    /// - Parameters:
    ///   - path: of an existing file, which may be empty.
    ///   - run: the `runNumber` of another archive of this process; nil if there was none.
    public static func open(_ path: String, run: Int? = nil) throws(SQLiteFault) -> Opening {
        let database = try SQLiteDatabase(path)
        let application = try database.number("PRAGMA application_id")
        let kind = try database.number("PRAGMA user_version")
        let tables = try database.number("SELECT count(*) FROM sqlite_schema")
        if application == 0, tables == 0 {
            try make(database)
        } else if application != Self.application || kind != version {
            return .foreign
        }
        return .open(try FlowArchive(database, run))
    }

    private static func make(_ database: SQLiteDatabase) throws(SQLiteFault) {
        // removed space is returned to the file system in slices; must be set while the file is empty
        try database.run("PRAGMA auto_vacuum = INCREMENTAL")
        try database.run("PRAGMA journal_mode = WAL")
        try database.transaction { () throws(SQLiteFault) in
            try database.run(
                """
                PRAGMA application_id = \(application);
                PRAGMA user_version = \(version);
                CREATE TABLE flows (
                    sequence INTEGER PRIMARY KEY, began INTEGER NOT NULL, run INTEGER NOT NULL,
                    id INTEGER NOT NULL, parent INTEGER NOT NULL, packed BLOB NOT NULL
                );
                CREATE INDEX flows_by_id ON flows (id, run);
                CREATE INDEX flows_by_parent ON flows (parent, run) WHERE parent <> 0;
                CREATE TABLE secrets (
                    alias TEXT PRIMARY KEY, sequence INTEGER NOT NULL, sealed BLOB NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX secrets_by_sequence ON secrets (sequence);
                CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                """)
        }
    }

    private init(_ database: SQLiteDatabase, _ known: Int?) throws(SQLiteFault) {
        // a crash of the system may lose the last flows, but never the file
        try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608")
        self.database = database
        insertion = try database.statement(
            "INSERT OR IGNORE INTO flows (sequence, began, run, id, parent, packed) VALUES (?, ?, ?, ?, ?, ?)")
        counting = try database.statement("INSERT OR REPLACE INTO counters (name, value) VALUES (?, ?)")
        if let known {
            run = FlowRun(number: known)
        } else {
            run = .behind(try database.number("SELECT value FROM counters WHERE name = 'run'"))
            try counting.run(.text("run"), .integer(run.number))
        }
        sealing = try database.statement("INSERT OR REPLACE INTO secrets (alias, sequence, sealed) VALUES (?, ?, ?)")
        count = try database.number("SELECT count(*) FROM flows")
    }

    /// The number that another archive of this process continues with.
    public var runNumber: Int { run.number }

    // MARK: writing

    /// Stores all flows, or none.
    /// - Parameters:
    ///   - counters: the last ids given so far.
    ///   - secrets: sealed secrets that first occurred in these flows.
    public func append(
        _ flows: [PackedFlow], _ counters: JournalCounters, secrets: [(alias: SecretAlias, sealed: [UInt8])] = []
    ) throws(SQLiteFault) {
        var added = 0
        try database.transaction { () throws(SQLiteFault) in
            for flow in flows {
                try insertion.run(
                    .integer(flow[.sequence]), .integer(flow[.began]), .integer(run.number),
                    .integer(flow[.id]), .integer(flow[.parent]), .bytes(Self.pressed(flow)))
                added += database.changes
            }
            for (alias, sealed) in secrets {
                try sealing.run(.text(alias.text), .integer(counters.sequence), .bytes(sealed))
            }
            try counting.run(.text("sequence"), .integer(counters.sequence))
            for kind in SecretKind.allCases {
                try counting.run(.text(kind.word), .integer(Int(counters.aliases[Int(kind.rawValue)])))
            }
        }
        count += added
    }

    /// The last ids given in any run whose flows are here.
    public func counters() throws(SQLiteFault) -> JournalCounters {
        var counters = JournalCounters()
        try database.statement("SELECT name, value FROM counters").forEach {
            (row: borrowing SQLiteRow) throws(SQLiteFault) in
            let name = row.bytes(0)
            let value = row.integer(1)
            if name.elementsEqual("sequence".utf8) { counters.sequence = max(0, value) }
            for kind in SecretKind.allCases where name.elementsEqual(kind.word.utf8) {
                counters.aliases[Int(kind.rawValue)] = UInt32(clamping: value)
            }
            return true
        }
        return counters
    }

    /// The size of the file in bytes, without its free pages.
    public func size() throws(SQLiteFault) -> Int {
        let pages = try database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count")
        return try pages * database.number("PRAGMA page_size")
    }

    // MARK: flows as they lie there

    private static func pressed(_ flow: PackedFlow) -> [UInt8] {
        let bytes = Array(flow.packed)
        // stored uncompressed if memory is short: no flow begins like a Zstandard frame
        return (try? BodyEncoder.encode(bytes, [.zstd])) ?? bytes
    }

    /// - Returns: nil if the bytes are no flow.
    static func flow(_ bytes: [UInt8]) -> PackedFlow? {
        guard bytes.starts(with: frame) else { return PackedFlow(bytes) }
        let limits = CodingLimits(size: largest, ratio: .max)
        return (try? BodyDecoder.decode(bytes, [.zstd], limits)).flatMap { PackedFlow($0) }
    }

    /// The magic number of a Zstandard frame (RFC 8878 §3.1.1). As the length that begins a flow it would mean four
    /// gigabytes.
    private static let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    // MARK: retention

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
