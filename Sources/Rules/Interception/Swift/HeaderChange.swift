internal import HTTPCodec
internal import Interceptors

/// Converts header fields to `Headers` and back.
enum HeaderChange {
    static func view(_ fields: FieldTable) -> Headers {
        Headers(fields.slots.indices.map { Headers.Field(fields.name($0), fields.value($0)) })
    }

    /// Applies changed headers to the fields. Unchanged lines stay as they are, to the byte; fields that only the proxy writes
    /// are not changed.
    /// - Parameter old: the headers that were passed out.
    /// - Returns: the changes, a few words each.
    static func apply(
        _ new: Headers, insteadOf old: Headers, to fields: inout FieldTable
    ) throws(EditFault) -> [String] {
        guard new != old else { return [] }
        func isWritable(_ field: Headers.Field) -> Bool { HeaderRules.isWritable(field.name) }
        var notes: [String] = []
        for change in new.fields.filter({ !isWritable($0) }).difference(from: old.fields.filter { !isWritable($0) }) {
            let note = HeaderEdit.ignored(name(change))
            if !notes.contains(note) { notes.append(note) }
        }
        let changes = new.fields.filter(isWritable).difference(from: old.fields.filter(isWritable))
        let set = Set(changes.insertions.map(name)).intersection(changes.removals.map(name))
        var places = places(fields)
        // from the last to the first, so that earlier places stay valid
        for change in changes.removals.reversed() {
            guard case .remove(let offset, let field, _) = change, offset < places.count else { continue }
            fields.remove(at: places[offset])
            if !set.contains(field.name) { notes.append("removed header \(field.name)") }
        }
        places = Self.places(fields)
        for change in changes.insertions {
            guard case .insert(let offset, let field, _) = change else { continue }
            try HeaderEdit.check(Pair(field.name, field.value))
            // directly after the line that it follows
            let isInside = offset > 0 && offset <= places.count
            let place = isInside ? places[offset - 1] + 1 : places.first ?? fields.count
            fields.add(field.name, field.value, at: place)
            let index = isInside ? offset : 0
            for later in index..<places.count { places[later] += 1 }
            places.insert(place, at: index)
            notes.append("\(set.contains(field.name) ? "set" : "added") header \(field.name)")
        }
        return notes
    }

    private static func name(_ change: CollectionDifference<Headers.Field>.Change) -> String {
        switch change {
        case .insert(_, let field, _), .remove(_, let field, _): field.name
        }
    }

    /// The positions of the writable lines.
    private static func places(_ fields: FieldTable) -> [Int] {
        fields.slots.indices.filter { HeaderRules.isWritable(fields.name($0)) }
    }
}
