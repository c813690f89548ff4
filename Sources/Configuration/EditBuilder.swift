internal import Declaration
internal import Interception

/// `request` and `response` lists of an interceptor → edits, each made by its own kind.
struct EditBuilder {
    let reader: RuleReader

    func requestEdits(_ items: [Decoded]) -> [any RequestEdit] {
        fields(items).compactMap { field in
            guard let kind = EditCatalogue.request(named: field.name) else { return unknown(field) }
            return kind.init(field.value, reader)
        }
    }

    func responseEdits(_ items: [Decoded]) -> [any ResponseEdit] {
        var reader = reader
        reader.phase = .response
        return fields(items).compactMap { field in
            guard let kind = EditCatalogue.response(named: field.name) else { return unknown(field) }
            return kind.init(field.value, reader)
        }
    }

    func errorEdits(_ items: [Decoded]) -> [any ErrorEdit] {
        fields(items).compactMap { field in
            guard let kind = EditCatalogue.error(named: field.name) else { return unknown(field) }
            return kind.init(field.value, reader)
        }
    }

    /// The key table is made of the same catalogue, so nothing comes here; if it did, it would not be dropped unsaid.
    private func unknown<Edit>(_ field: Fields.Field) -> Edit? {
        reader.findings.error(field.position, "\"\(field.name)\" is no edit")
        return nil
    }

    /// The edits of all entries in order; an entry may hold several.
    private func fields(_ items: [Decoded]) -> [Fields.Field] {
        for item in items where item.fields?.written.isEmpty == true {
            reader.findings.error(
                item.position, "an entry without an edit; write one, such as - set_header: { NAME: value }")
        }
        let fields = items.flatMap { $0.fields?.all ?? [] }
        if let end = fields.firstIndex(where: { Self.last.contains($0.name) }), end + 1 < fields.count {
            reader.findings.warning(
                fields[end + 1].position,
                "this is never reached, for \"\(fields[end].name)\" before it ends the exchange")
        }
        return fields
    }

    private static let last = Set(EditCatalogue.all.filter { $0.isLast }.map { $0.name })
}
