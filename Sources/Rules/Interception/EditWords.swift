/// The words of a rule's edits in one phase. Edits nearly always apply in full, so that sentence is precomputed.
struct EditWords: Sendable {
    private let name: String
    private let each: [[String]]
    /// The note for the case that all edits applied in full.
    let all: RuleNote

    init(_ name: String, _ edits: [any Edit]) {
        self.name = name
        each = edits.map(\.words)
        all = Self.note(name, each.flatMap { $0 })
    }

    /// The words of one edit.
    subscript(place: Int) -> [String] { each[place] }

    /// The words of the first edits.
    func first(_ count: Int) -> [String] { each[..<count].flatMap { $0 } }

    func note(_ words: [String], _ deed: Deed) -> RuleNote { Self.note(name, words, deed) }

    private static func note(_ name: String, _ words: [String], _ deed: Deed = .applied) -> RuleNote {
        RuleNote(name, words.joined(separator: ", "), deed)
    }
}

extension EditEffect {
    /// Describes an edit whose templates were filled in for one exchange.
    func told(by edit: any Edit) -> EditEffect {
        guard case .done = self else { return self }
        return .changed(edit.words)
    }
}
