public import Journal

extension FlowArchive: FlowShelf {
    /// The most ids that are listed for an ambiguous part of an id.
    private static let named = 5
    /// The most calls of one flow.
    private static let mostCalls = 200

    public func newestFirst(before sequence: Int, _ body: (PackedFlow) -> Bool) throws(SQLiteFault) {
        try read("WHERE sequence < ? ORDER BY sequence DESC", .integer(sequence), body: body)
    }

    public func oldestFirst(after sequence: Int, _ body: (PackedFlow) -> Bool) throws(SQLiteFault) {
        try read("WHERE sequence > ? ORDER BY sequence", .integer(sequence), body: body)
    }

    public func calls(of id: Int) throws(SQLiteFault) -> [PackedFlow] {
        var calls: [PackedFlow] = []
        let (parent, number) = run.stored(id)
        try read(
            "WHERE parent = ? AND run = ? AND parent <> 0 ORDER BY sequence LIMIT \(Self.mostCalls)",
            .integer(parent), .integer(number)
        ) { call in
            calls.append(call)
            return true
        }
        return calls
    }

    public func sealed(_ alias: SecretAlias) throws(SQLiteFault) -> [UInt8]? {
        var sealed: [UInt8]?
        try noting { () throws(SQLiteFault) in
            try database.statement("SELECT sealed FROM secrets WHERE alias = ?").forEach([.text(alias.text)]) {
                (row: borrowing SQLiteRow) throws(SQLiteFault) in
                sealed = row.bytes(0)
                return false
            }
        }
        return sealed
    }

    public func find(_ text: String) throws(SQLiteFault) -> FlowRing.Finding {
        guard FlowID.isPart(text) else { return .none }
        if let id = FlowID(text), let flow = try flow(Int(Int64(bitPattern: id.number))) { return .one(flow) }
        // an id of this run or an earlier one takes precedence over a part of another id
        var found =
            try FlowID(text).map { id throws(SQLiteFault) in try earlier(Int(Int64(bitPattern: id.number))) } ?? []
        if found.isEmpty { found = try named(text.lowercased()) }
        guard let first = found.first else { return .none }
        guard found.count == 1 else { return .several(found) }
        return try flow(Int(Int64(bitPattern: first.number))).map { .one($0) } ?? .none
    }

    /// The flows of earlier runs that had this id.
    private func earlier(_ id: Int) throws(SQLiteFault) -> [FlowID] {
        try ids("WHERE id = ? ORDER BY run DESC LIMIT \(Self.named)", .integer(id)) { _ in true }
    }

    /// The flows whose id contains this part.
    private func named(_ part: String) throws(SQLiteFault) -> [FlowID] { try ids("") { $0.isNamed(part) } }

    private func ids(
        _ which: String, _ values: SQLiteValue..., fit: (FlowID) -> Bool
    ) throws(SQLiteFault) -> [FlowID] {
        var found: [FlowID] = []
        try noting { () throws(SQLiteFault) in
            // uses the index alone, without reading flows
            let reading = try database.statement("SELECT id, run FROM flows \(which)")
            try reading.forEach(values) { (row: borrowing SQLiteRow) throws(SQLiteFault) in
                let id = FlowID(UInt64(bitPattern: Int64(run.shown(row.integer(0), of: row.integer(1)))))
                if fit(id) { found.append(id) }
                return found.count < Self.named
            }
        }
        return found
    }

    private func flow(_ id: Int) throws(SQLiteFault) -> PackedFlow? {
        var flow: PackedFlow?
        let (stored, number) = run.stored(id)
        try read("WHERE id = ? AND run = ? ORDER BY sequence DESC", .integer(stored), .integer(number)) { found in
            flow = found
            return false
        }
        return flow
    }

    /// Reads flows and skips rows that are no flow.
    private func read(
        _ which: String, _ values: SQLiteValue..., body: (PackedFlow) -> Bool
    ) throws(SQLiteFault) {
        try noting { () throws(SQLiteFault) in
            let reading = try database.statement("SELECT packed, run FROM flows \(which)")
            try reading.forEach(values) { (row: borrowing SQLiteRow) throws(SQLiteFault) in
                guard let flow = Self.flow(row.bytes(0)) else { return true }
                return body(run.shown(flow, of: row.integer(1)))
            }
        }
    }

    private func noting(_ body: () throws(SQLiteFault) -> Void) throws(SQLiteFault) {
        do throws(SQLiteFault) { try body() } catch {
            if error.isDamage { damage = error }
            throw error
        }
    }
}
