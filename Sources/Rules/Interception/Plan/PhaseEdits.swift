internal import HTTPCodec

/// A rule's edits in one phase, with precomputed facts about them.
struct PhaseEdits<One: Sendable>: Sendable {
    let edits: [One]
    /// The parts of the exchange that the templates read.
    let templates: TemplateNeeds
    let words: EditWords
    /// The edits that read the body or need it buffered.
    private let bodyEdits: [any Edit]
    /// True if a Swift interceptor is among the edits. A trial run does not call it.
    let runsCode: Bool

    /// - Parameter all: the same edits, as `Edit`.
    init(_ rule: String, _ edits: [One], _ all: [any Edit]) {
        self.edits = edits
        templates = TemplateNeeds(all)
        words = EditWords(rule, all)
        bodyEdits = all.filter(\.readsBody)
        runsCode = all.contains { $0 is SwiftEdit }
    }

    var isEmpty: Bool { edits.isEmpty }
    /// Whether an edit reads the body.
    var readsBody: Bool { !bodyEdits.isEmpty }

    /// Whether a message with this head needs its body.
    /// - Parameter takesValues: true if templates read the body.
    func needsBody(_ fields: FieldTable, takesValues: Bool) -> Bool {
        if takesValues && TemplateNeeds.mayRead(fields) { return true }
        guard readsBody else { return false }
        let type = fields["Content-Type"].flatMap { MediaType($0) }
        return bodyEdits.contains { ($0 as? any BodyEdit)?.concerns(type) ?? true }
    }
}
