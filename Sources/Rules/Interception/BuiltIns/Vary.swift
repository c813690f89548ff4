public import Declaration

/// `vary`: legal but unusual forms of AM's responses and of advice.
public struct Vary: BuiltIn {
    public static let name = "vary"
    public static let doc =
        "Writes advice and AM's JSON in legal but unusual forms, to find apps that read too narrowly. The number selects the forms, always the same."
    public static let shape = Shape.integer(0...1_000_000_000)
    public static let sparesCalls = true
    public var powers: Powers? { .fault }

    private var variation: Variation

    init(seed: Int) { variation = Variation(seed: seed) }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let seed = value.number else { return nil }
        self.init(seed: seed)
    }

    public let readsAnswer = true

    public func equip(_ rule: inout Rule) {
        // a callback that is added has to be taken out of the request that follows, which the rule must see, too
        if !rule.sampling.isWhole || rule.when.contains(where: { !Self.lasting.contains($0) }) {
            var own = self
            own.variation.addsCallback = false
            rule.builtIn = own
            return own.equip(edits: &rule)
        }
        equip(edits: &rule)
    }

    /// Keys that hold for all requests of a journey, or for none.
    private static let lasting: [Condition.Key] = [.scheme, .host, .port, .by, .platform, .realm]

    private func equip(edits rule: inout Rule) {
        if variation.addsCallback { rule.request = [AddedCallback()] }
        rule.response = [VariedJSON(variation), VariedHead(variation)]
        if let size = variation.chunk { rule.response.append(VariedFraming(size: size)) }
    }

    public var words: String { "varies AM's responses: \(variation.words.joined(separator: ", "))" }
}
