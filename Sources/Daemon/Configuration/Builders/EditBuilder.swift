internal import Declaration
internal import Interception

/// Builds edits from the lists `request`, `response` and `error` of an interceptor. `EditCatalogue` makes each edit.
struct EditBuilder {
    var reader: RuleReader

    func requestEdits(_ items: [Decoded]) -> [any RequestEdit] {
        edits(items, ends: \.endsPhase) { field, reader in
            EditCatalogue.request(named: field.name).map { $0.init(field.value, reader) }
        }
    }

    func responseEdits(_ items: [Decoded]) -> [any ResponseEdit] {
        var builder = self
        builder.reader.phase = .response
        return builder.edits(items, ends: \.endsPhase) { field, reader in
            EditCatalogue.response(named: field.name).map { $0.init(field.value, reader) }
        }
    }

    func errorEdits(_ items: [Decoded]) -> [any ErrorEdit] {
        edits(items, ends: \.endsPhase) { field, reader in
            EditCatalogue.error(named: field.name).map { $0.init(field.value, reader) }
        }
    }

    /// The edits of all entries in order. An entry may have several.
    /// - Parameter make: returns nil if there is no such edit, and a nil value if the edit's value cannot be used.
    private func edits<Made>(
        _ items: [Decoded], ends: (Made) -> Bool, _ make: (Fields.Field, RuleReader) -> Made??
    ) -> [Made] {
        for item in items where item.fields?.written.isEmpty == true {
            reader.findings.error(
                item.position, "the entry has no edit; add one, such as - set_header: { NAME: value }")
        }
        var made: [Made] = []
        var end: String?
        var isTold = false
        for field in items.flatMap({ $0.fields?.all ?? [] }) {
            if let end, !isTold {
                isTold = true
                reader.findings.warning(
                    field.position, "this is never reached: the edit \"\(end)\" before it ends the exchange")
            }
            guard let edit = make(field, reader) else {
                // the key table comes from the same catalogue, so this is unreachable; if it were, the edit must not vanish
                // silently
                reader.findings.error(field.position, "\"\(field.name)\" is not an edit")
                continue
            }
            // an edit with an unusable value is judged by its kind
            let isLast = edit.map(ends) ?? Self.last.contains(field.name)
            if end == nil, isLast { end = field.name }
            if let edit { made.append(edit) }
        }
        return made
    }

    private static let last = Set(EditCatalogue.all.filter { $0.isLast }.map { $0.name })
}
