internal import Formats
internal import HTTPCodec

/// Code shared by the edits of header fields.
enum HeaderEdit {
    /// Whether all pairs are valid in every head, so that exchanges can skip the check.
    static func areSound(_ pairs: [Pair]) -> Bool {
        pairs.allSatisfy {
            $0.template == nil && HeaderRules.isWritable($0.name) && !ASCII.equal($0.name, "host")
                && FieldSyntax.isName($0.name) && FieldSyntax.isValue($0.value)
        }
    }

    static func set(_ pairs: [Pair], in fields: inout FieldTable) throws(EditFault) -> EditEffect {
        try write(pairs, "set", to: &fields) { $0.set($1.name, $1.value) }
    }

    static func add(_ pairs: [Pair], to fields: inout FieldTable) throws(EditFault) -> EditEffect {
        try write(pairs, "added", to: &fields) { $0.add($1.name, $1.value) }
    }

    private static func write(
        _ pairs: [Pair], _ verb: String, to fields: inout FieldTable, _ edit: (inout FieldTable, Pair) -> Void
    ) throws(EditFault) -> EditEffect {
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
        return .changed(notes)
    }

    static func ignored(_ name: String) -> String {
        "ignored header \(name), which only the proxy itself may change"
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

    static func checkHost(_ authority: String) throws(EditFault) {
        var scratch = RequestHead()
        do {
            try scratch.adopt(authority: authority, scheme: .http)
        } catch {
            throw EditFault(reason: "the host is not a name or address with an optional port")
        }
    }
}
