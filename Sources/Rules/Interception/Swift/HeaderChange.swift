internal import HTTPCodec
internal import Interceptors

/// Converts header fields to `Headers` and back.
enum HeaderChange {
    static func view(_ fields: FieldTable) -> Headers {
        Headers(fields.slots.indices.map { Headers.Field(fields.name($0), fields.value($0)) })
    }

    /// Applies changed headers to the fields. Unchanged lines stay as they are, to the byte; fields that only the proxy writes
    /// are not changed.
    /// - Parameter old: the headers that were passed out, a line for each field.
    /// - Returns: the changes, a few words each.
    static func apply(
        _ new: Headers, insteadOf old: Headers, to fields: inout FieldTable
    ) throws(EditFault) -> [String] {
        // what both begin and end with stays
        let most = min(old.fields.count, new.fields.count)
        var start = 0
        while start < most, old.fields[start] == new.fields[start] { start += 1 }
        var end = 0
        while end < most - start, old.fields[old.fields.count - 1 - end] == new.fields[new.fields.count - 1 - end] {
            end += 1
        }
        let before = old.fields[start..<(old.fields.count - end)]
        let after = new.fields[start..<(new.fields.count - end)]
        guard !before.isEmpty || !after.isEmpty else { return [] }
        var notes: [String] = []
        for name in Self.changes(after.filter { !isWritable($0) }, before.filter { !isWritable($0) }).names {
            let note = HeaderEdit.ignored(name)
            if !notes.contains(note) { notes.append(note) }
        }
        // the positions of the writable lines between
        var places = before.indices.filter { isWritable(before[$0]) && $0 < fields.count }
        let changes = Self.changes(after.filter(isWritable), places.map { before[$0] })
        let set = Set(changes.insertions.map(\.field.name)).intersection(changes.removals.map(\.field.name))
        // from the last to the first, so that earlier places stay valid
        for (offset, field) in changes.removals.reversed() {
            fields.remove(at: places[offset])
            places.remove(at: offset)
            for later in offset..<places.count { places[later] -= 1 }
            if !set.contains(field.name) { notes.append("removed header \(field.name)") }
        }
        for (offset, field) in changes.insertions {
            try HeaderEdit.check(Pair(field.name, field.value))
            // directly after the line that it follows, else before the first one
            let place =
                if offset > 0 {
                    places[offset - 1] + 1
                } else if let last = old.fields[..<start].lastIndex(where: isWritable) {
                    last + 1
                } else {
                    places.first ?? fields.slots.indices.first { HeaderRules.isWritable(fields.name($0)) }
                        ?? fields.count
                }
            fields.add(field.name, field.value, at: place)
            for later in offset..<places.count { places[later] += 1 }
            places.insert(place, at: offset)
            notes.append("\(set.contains(field.name) ? "set" : "added") header \(field.name)")
        }
        return notes
    }

    private static func isWritable(_ field: Headers.Field) -> Bool { HeaderRules.isWritable(field.name) }

    private typealias Change = (offset: Int, field: Headers.Field)

    private struct Changes {
        let removals: [Change]
        let insertions: [Change]
        var names: [String] { (removals + insertions).map(\.field.name) }
    }

    /// The removals and insertions that turn the old lines into the new ones, in order.
    private static func changes(_ new: [Headers.Field], _ old: [Headers.Field]) -> Changes {
        // most interceptors add or set one line
        if old.isEmpty || new.isEmpty || old.count == 1 && new.count == 1 && old != new {
            return Changes(
                removals: old.enumerated().map { ($0.offset, $0.element) },
                insertions: new.enumerated().map { ($0.offset, $0.element) })
        }
        let changes = new.difference(from: old)
        return Changes(removals: changes.removals.map(change), insertions: changes.insertions.map(change))
    }

    private static func change(_ change: CollectionDifference<Headers.Field>.Change) -> Change {
        switch change {
        case .insert(let offset, let field, _), .remove(let offset, let field, _): (offset, field)
        }
    }
}
