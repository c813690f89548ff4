/// An advice: the conditions that AM still requires before it grants access (docs/protocol.md#advice).
public struct Advice: Equatable, Sendable {
    /// The form in which the advice came, in order of precedence.
    public enum Source: String, Sendable, CaseIterable { case header, redirect, body }

    /// A set of forms.
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
        /// The default for a resource. It excludes `body`, because a body may be application data.
        public static let standard: Forms = [.header, .redirect]
    }

    /// One condition with its values, such as `TransactionConditionAdvice` and one id.
    public struct Condition: Equatable, Sendable {
        public var name: String
        public var values: [String]

        public init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values
        }
    }

    public var source: Source
    /// The realm as the advice names it; nil where the form carries none.
    public var realm: String?
    /// The AM address that the advice names. It is logged and never used for requests.
    public var amURI: String?
    /// The target of a redirect as written, without query and fragment.
    public var location: String?
    /// The conditions in the order received. Neither the list nor any list of values is empty.
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

    /// The opaque id of the transaction to approve.
    public var transactionId: String? { conditions.first { $0.name == Self.transaction }?.values.first }

    /// True if a transaction has to be approved. The session stays the same.
    public var isTransaction: Bool { conditions.contains { $0.name == Self.transaction } }

    /// True if the advice holds a condition other than a transaction. The session may be replaced.
    public var isUpgrade: Bool { conditions.contains { $0.name != Self.transaction } }

    /// The tree to run, in the form that `X-Tree` uses: `/alpha:StepUp` or `StepUp`.
    public var tree: String? { conditions.first { Self.trees.contains($0.name) }?.values.first }

    /// The names of the conditions, for the log. Values are left out because they may be ids.
    public var summary: String { conditions.map(\.name).joined(separator: ", ") }

    /// The document for AM's `authIndexValue`, before percent-encoding.
    public var xml: String { AdvicesXML.document(conditions) }

    /// Limit in bytes. AM's container accepts 8 KiB of request line by default, and percent-encoding adds about half.
    static let maxDocument = 4096

    /// Limit of conditions in one advice. AM has far fewer kinds; an advice with more is rejected while it is read.
    static let maxConditions = 64

    /// The reason why this advice cannot be sent to AM, as one sentence; nil if it can.
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
