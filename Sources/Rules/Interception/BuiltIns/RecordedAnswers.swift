public import Declaration

/// `recording`: answers from a recording.
public struct RecordedAnswers: BuiltIn {
    public static let name = "recording"
    public static let doc =
        "Answers requests from a recording of usher record, in place of the recorded servers."
    public static let shape = Shape.either(
        .text(.file),
        ObjectShape(
            "recorded_answers",
            [
                Key("folder", .text(.file), "The folder of the recording.", isRequired: true),
                Key(
                    "mode", .choice(["strict", "loose", "spy"]),
                    "strict: secrets must be those that the recording gave out. loose: secrets, ids and times do not count. spy: as strict, but a request that fits nothing goes to the real server.",
                    standard: "strict"),
            ]))

    public var powers: Powers? { .mock }

    private let edit: SwiftEdit

    public init?(_ value: Decoded, _ reader: RuleReader) {
        let mode = value.fields?.text("mode") ?? "strict"
        guard let folder = value.fields?["folder"] ?? (value.text == nil ? nil : value),
            let begin = reader.recording(folder, mode), let edit = SwiftEdit(Self.name, begin)
        else { return nil }
        self.edit = edit
    }

    public func equip(_ rule: inout Rule) { rule.request = [edit] }

    public var words: String { "answers from a recording" }
}
