/// What is said of a rule's edits in one phase. Nearly always they do what they are asked for, and that sentence is made
/// beforehand.
struct EditWords: Sendable {
    private let name: String
    private let each: [[String]]
    /// All of them were made as they were asked for.
    let all: RuleNote

    init(_ name: String, _ edits: [any Edit]) {
        self.name = name
        each = edits.map(\.words)
        all = Self.note(name, each.flatMap { $0 })
    }

    /// Of one edit.
    subscript(place: Int) -> [String] { each[place] }

    /// Of so many edits.
    func first(_ count: Int) -> [String] { each[..<count].flatMap { $0 } }

    func note(_ words: [String], _ deed: Deed) -> RuleNote { Self.note(name, words, deed) }

    private static func note(_ name: String, _ words: [String], _ deed: Deed = .applied) -> RuleNote {
        RuleNote(name, words.joined(separator: ", "), deed)
    }
}

extension EditEffect {
    /// The same in words, for an edit that was made for one exchange.
    func told(by edit: any Edit) -> EditEffect {
        guard case .done = self else { return self }
        return .changed(edit.words)
    }
}
