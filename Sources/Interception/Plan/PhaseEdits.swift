internal import HTTPCodec

/// What a rule does in one phase: its edits, and what is known of them beforehand.
struct PhaseEdits<One: Sendable>: Sendable {
    let edits: [One]
    /// What the values ask for that are filled in.
    let templates: TemplateNeeds
    let words: EditWords
    /// Those that look at the body, or have to have it held.
    private let bodyEdits: [any Edit]
    /// Code of others is among them, which is not run to see what would come of it.
    let runsCode: Bool

    /// - Parameter all: the same edits.
    init(_ rule: String, _ edits: [One], _ all: [any Edit]) {
        self.edits = edits
        templates = TemplateNeeds(all)
        words = EditWords(rule, all)
        bodyEdits = all.filter(\.readsBody)
        runsCode = all.contains { $0 is SwiftEdit }
    }

    var isEmpty: Bool { edits.isEmpty }
    /// Some edit looks at the body of a message.
    var readsBody: Bool { !bodyEdits.isEmpty }

    /// Whether the body of a message with such a head is needed.
    /// - Parameter takesValues: some values are taken from there.
    func needsBody(_ fields: FieldTable, takesValues: Bool) -> Bool {
        if takesValues && TemplateNeeds.mayRead(fields) { return true }
        guard readsBody else { return false }
        let type = fields["Content-Type"].flatMap { MediaType($0) }
        return bodyEdits.contains { ($0 as? any BodyEdit)?.concerns(type) ?? true }
    }
}
