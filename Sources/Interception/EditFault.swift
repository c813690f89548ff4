internal import HTTPCodec

/// Why an edit cannot be made: what it would write is no valid HTTP.
struct EditFault: Error {
    let reason: String
}

/// The changes that edits have in common. Each says in a few words what it did; names only, never values.
enum FieldEdit {
    static func ignored(_ name: String) -> String {
        "ignored header \(name), which only the proxy itself may change"
    }

    static func set(_ pairs: [Pair], in fields: inout FieldTable) throws(EditFault) -> [String] {
        try write(pairs, "set", to: &fields) { $0.set($1.name, $1.value) }
    }

    static func add(_ pairs: [Pair], to fields: inout FieldTable) throws(EditFault) -> [String] {
        try write(pairs, "added", to: &fields) { $0.add($1.name, $1.value) }
    }

    private static func write(
        _ pairs: [Pair], _ verb: String, to fields: inout FieldTable, _ edit: (inout FieldTable, Pair) -> Void
    ) throws(EditFault) -> [String] {
        var notes: [String] = []
        for pair in pairs {
            try check(pair)
            if !HeaderRules.isWritable(pair.name) {
                notes.append(ignored(pair.name))
                continue
            }
            edit(&fields, pair)
            notes.append("\(verb) header \(pair.name)")
        }
        return notes
    }

    /// Names may be globs; a glob never takes a protected field, nor Host, without which no request is valid.
    static func remove(_ names: [String], from fields: inout FieldTable) -> [String] {
        var notes: [String] = []
        for name in names {
            if !HeaderRules.isWritable(name) {
                notes.append(ignored(name))
                continue
            }
            let count: Int
            if Glob.isGlob(name) {
                count = fields.removeAll { table, index in
                    let found = table.name(index)
                    return Glob.matches(name, found, ignoringCase: true) && HeaderRules.isWritable(found)
                        && table.slots[index].known != .host
                }
            } else {
                count = fields.remove(named: name)
            }
            notes.append(removed(count, "header \(name)"))
        }
        return notes
    }

    static func removed(_ count: Int, _ what: String) -> String {
        count > 0 ? "removed \(what)" : "found no \(what) to remove"
    }

    static func check(_ pair: Pair) throws(EditFault) {
        guard FieldSyntax.isName(pair.name) else {
            throw EditFault(reason: "a header name holds a character that no name may hold, or is empty")
        }
        guard FieldSyntax.isValue(pair.value) else {
            throw EditFault(reason: "the value for header \(pair.name) holds a control character")
        }
    }

    static func check(_ cookie: CookieEdit) throws(EditFault) {
        guard FieldSyntax.isName(cookie.name) else {
            throw EditFault(reason: "a cookie name holds a character that no name may hold, or is empty")
        }
        for part in [cookie.value, cookie.domain ?? "", cookie.path ?? ""] {
            // a semicolon would begin another cookie or attribute
            guard FieldSyntax.isValue(part), !part.utf8.contains(0x3B) else {
                throw EditFault(reason: "cookie \(cookie.name) holds a control character or a semicolon")
            }
        }
    }

    /// The answer as it may be sent: framing is the proxy's.
    static func checked(_ answer: LocalAnswer) throws(EditFault) -> LocalAnswer {
        guard (200..<600).contains(answer.status) else {
            throw EditFault(reason: "\(answer.status) is no status that an answer can have")
        }
        for pair in answer.headers { try check(pair) }
        var answer = answer
        answer.headers.removeAll { !HeaderRules.isWritable($0.name) }
        return answer
    }
}
