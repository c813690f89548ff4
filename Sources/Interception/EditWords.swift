/// What is said of a rule's edits in one phase. Nearly always they do what they are asked for, and that sentence is made
/// beforehand.
struct EditWords: Sendable {
    private let name: String
    private let each: [[String]]
    /// All of them were made as they were asked for.
    let all: String

    init(_ name: String, _ edits: [any Edit]) {
        self.name = name
        each = edits.map(\.words)
        all = Self.sentence(name, each.flatMap { $0 })
    }

    /// Of one edit.
    subscript(place: Int) -> [String] { each[place] }

    /// Of so many edits.
    func first(_ count: Int) -> [String] { each[..<count].flatMap { $0 } }

    func sentence(_ words: [String]) -> String { Self.sentence(name, words) }

    private static func sentence(_ name: String, _ words: [String]) -> String {
        "\(name): \(words.joined(separator: ", "))"
    }
}

extension EditEffect {
    /// The same in words, for an edit that was made for one exchange.
    func told(by edit: any Edit) -> EditEffect {
        guard case .done = self else { return self }
        return .changed(edit.words)
    }
}
