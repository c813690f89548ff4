internal import HTTPCodec

/// What a policy still asks for before it grants access (docs/protocol.md#advice).
public struct Advice: Equatable, Sendable {
    /// The form in which it came, by precedence.
    public enum Source: String, Sendable, CaseIterable { case header, redirect, body }

    /// Some of the forms.
    public struct Forms: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public init(_ source: Source) {
            switch source {
            case .header: self = .header
            case .redirect: self = .redirect
            case .body: self = .body
            }
        }

        public static let header = Forms(rawValue: 1)
        public static let redirect = Forms(rawValue: 2)
        public static let body = Forms(rawValue: 4)
        /// What counts where a resource says nothing: a body may be somebody's data.
        public static let standard: Forms = [.header, .redirect]
    }

    /// One kind of advice with its values: `TransactionConditionAdvice` and one id.
    public struct Condition: Equatable, Sendable {
        public var name: String
        public var values: [String]

        public init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values
        }
    }

    public var source: Source
    /// The realm as it was named; nil where the form carries none.
    public var realm: String?
    /// The address of AM as it was named. Kept for the log, never followed.
    public var amURI: String?
    /// Where a redirect leads, as it was written but for query and fragment.
    public var location: String?
    /// In the order in which they came; never empty, nor are the values of one.
    public var conditions: [Condition]

    public init(
        source: Source, realm: String? = nil, amURI: String? = nil, location: String? = nil, conditions: [Condition]
    ) {
        self.source = source
        self.realm = realm
        self.amURI = amURI
        self.location = location
        self.conditions = conditions
    }

    static let transaction = "TransactionConditionAdvice"
    private static let trees = ["AuthenticateToServiceConditionAdvice", "AuthenticateToTreeConditionAdvice"]

    /// The id of the transaction to approve, an opaque text.
    public var transactionId: String? { conditions.first { $0.name == Self.transaction }?.values.first }

    /// A transaction has to be approved; the session stays as it is.
    public var isTransaction: Bool { conditions.contains { $0.name == Self.transaction } }

    /// Something else than a transaction is asked for; the session may be replaced.
    public var isUpgrade: Bool { conditions.contains { $0.name != Self.transaction } }

    /// The tree to run, as `X-Tree` hands it back: `/alpha:StepUp` or `StepUp`.
    public var tree: String? { conditions.first { Self.trees.contains($0.name) }?.values.first }

    /// The names of the conditions, for the log: values may be ids.
    public var summary: String { conditions.map(\.name).joined(separator: ", ") }

    /// The document that AM takes as `authIndexValue`, not yet percent-encoded.
    public var xml: String { AdvicesXML.document(conditions) }

    /// AM's container takes 8 KiB of request line by default, and percent-encoding makes the document about half as
    /// long again.
    static let maxDocument = 4096

    /// Kinds of condition in one advice: far more than AM has. More make it no advice, and reading it no work.
    static let maxConditions = 64

    /// Why this advice cannot be put to AM, one sentence; nil where it can.
    public var refusal: String? {
        for condition in conditions {
            for value in condition.values where !value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
                return
                    "a value of \(LogText.shown(condition.name)) holds a control character, which no document may carry"
            }
        }
        let size = xml.utf8.count
        if size > Self.maxDocument { return "the advice has \(size) bytes, more than fit into a URL" }
        return nil
    }
}
