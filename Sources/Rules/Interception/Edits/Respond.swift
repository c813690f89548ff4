public import Declaration
public import HTTPCodec

/// `respond`.
public struct Respond: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "respond"
    public static let doc =
        "Responds in place of the origin. Of several responses, each is used in turn, the last from then on."
    public static let shape = Shape.oneOrMany(.object(ObjectShape("local_answer", WrittenAnswer.keys)))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.mock
    public static let sparesCalls = true
    public static let isLast = true

    /// In the order in which exchanges receive them.
    let answers: [WrittenAnswer]
    /// Selects the next response; nil if there is only one.
    private let sequence: ResponseSequence?

    public init(_ answer: DirectResponse) { self.init([WrittenAnswer(answer)], nil) }

    private init(_ answers: [WrittenAnswer], _ sequence: ResponseSequence?) {
        self.answers = answers
        self.sequence = sequence
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        if value.isEmptyList {
            reader.findings.error(value.position, "the list of responses is empty; write one")
        }
        let written = value.fields == nil ? value.list : [value]
        let answers = written.compactMap { WrittenAnswer($0, reader) }
        guard !answers.isEmpty else { return nil }
        if let last = written.last, last.fields?.has("times") == true {
            reader.findings.warning(last.position, "times has no effect on the last response; remove it")
        }
        self.init(answers, answers.count > 1 ? ResponseSequence(answers.dropLast().map(\.times)) : nil)
    }

    public var restarted: Self { Self(answers, sequence?.restarted) }

    /// The first response.
    public var answer: DirectResponse { answers[0].response }

    public var templates: [Template] { answers.flatMap(\.templates) }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        var filled: [WrittenAnswer] = []
        for answer in answers { filled.append(try answer.filled(by: &filler)) }
        return Self(filled, sequence)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect { try apply() }
    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect { try apply() }

    public func apply() throws(EditFault) -> EditEffect {
        guard let sequence else { return .respond(try answer.checked()) }
        var checked: [DirectResponse] = []
        for answer in answers { checked.append(try answer.response.checked()) }
        return .respondInSequence(sequence, checked)
    }
}
