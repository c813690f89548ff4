public import Declaration

/// `fault`: a named fault.
public struct FaultByName: BuiltIn {
    public static let name = "fault"
    public static let doc =
        "Does to the app what AM, a Gateway or the network may do to it. It applies to the exchanges that the fault concerns. usher faults lists the names."
    public static let shape = Shape.choice(FaultCatalogue.all.map(\.name))
    public static let sparesCalls = true
    public var powers: Powers? { .fault }

    private let fault: NamedFault

    init(_ fault: NamedFault) { self.fault = fault }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let name = value.text, let fault = FaultCatalogue.fault(named: name) else { return nil }
        self.init(fault)
    }

    public var readsAnswer: Bool { fault.request.isEmpty }

    public func equip(_ rule: inout Rule) {
        rule.when = rule.when.and(fault.scope.condition)
        rule.request = fault.request
        rule.response = fault.response
    }

    public var words: String { "\(fault.name): \(fault.sees)" }
}
