/// The required format of a text.
public struct TextFormat: Sendable {
    /// A description with an example. Completes "expected …".
    public let expected: String
    /// A regular expression for the JSON Schema; nil if none describes the format well.
    public let pattern: String?
    /// False if the value may be, or often contains, a secret. Messages do not quote it.
    public let isQuotable: Bool
    /// True if a user name and a password may precede an @.
    public let takesUser: Bool
    /// The location of a host, which may be internationalized.
    public let host: HostPlace
    /// True for addresses and names. Environment variables in such values are no secrets.
    public let isPublic: Bool
    public let accepts: @Sendable (String) -> Bool

    public enum HostPlace: Sendable { case none, whole, url }

    public init(
        _ expected: String, pattern: String? = nil, isQuotable: Bool = true, takesUser: Bool = false,
        host: HostPlace = .none, isPublic: Bool = false,
        _ accepts: @escaping @Sendable (String) -> Bool
    ) {
        self.expected = expected
        self.pattern = pattern
        self.isQuotable = isQuotable
        self.takesUser = takesUser
        self.isPublic = isPublic
        self.host = host
        self.accepts = accepts
    }

    public static let any = TextFormat("text", isQuotable: false) { _ in true }
    /// A term about requests: a host, a path, a method.
    public static let term = TextFormat("text", isQuotable: false, isPublic: true) { _ in true }
    /// Never quoted in messages: a key may have been pasted in place of a path.
    public static let file = TextFormat("the path of a file", isQuotable: false, isPublic: true) { text in
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
    public static let name = TextFormat("a non-empty name") { !$0.isEmpty }
}
