/// What a text must look like.
public struct TextFormat: Sendable {
    /// Completes "expected …": what it is, with an example.
    public let expected: String
    /// A regular expression of JSON Schema for it, nil where none says it well.
    public let pattern: String?
    /// False where the value may be a secret, or holds one often enough: it is quoted in no message then.
    public let isQuotable: Bool
    /// True where a user name and a password may stand before an @.
    public let takesUser: Bool
    /// Where a host stands in it, which may be written beyond ASCII.
    public let host: HostPlace
    /// True for addresses and names: what the environment has for them is no secret.
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
    /// What a request is known by: a host, a path, a method.
    public static let term = TextFormat("text", isQuotable: false, isPublic: true) { _ in true }
    /// Quoted in no message: where a path is expected, a key may have been pasted.
    public static let file = TextFormat("the path of a file", isQuotable: false, isPublic: true) { text in
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
    public static let name = TextFormat("a name that is not empty") { !$0.isEmpty }
}
