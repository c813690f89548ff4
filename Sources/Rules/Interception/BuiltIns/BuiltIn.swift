public import Declaration

/// An interceptor that one key of its entry configures completely, instead of lists of edits. Like an edit, it is declared in one
/// place: keys, schema and loader are derived from this protocol. `BuiltInCatalogue` lists all of them.
public protocol BuiltIn: Sendable {
    /// The configuration key.
    static var name: String { get }
    /// One sentence for editors.
    static var doc: String { get }
    /// The shape of the value.
    static var shape: Shape { get }
    /// True if the interceptor sends a secret, so that its entry must name the hosts that may receive it.
    static var sendsSecret: Bool { get }
    /// True if its work delays, breaks or changes exchanges on purpose, so that calls of Usher's own are left alone unless the
    /// condition has the key `by`.
    static var sparesCalls: Bool { get }
    /// What an environment has to allow for it to apply; nil for what its edits need.
    var powers: Powers? { get }
    /// True if its condition may use keys of the response.
    var readsAnswer: Bool { get }

    /// - Parameter value: a value of `shape`.
    /// - Returns: nil if the value cannot be used. The reader has recorded the finding.
    init?(_ value: Decoded, _ reader: RuleReader)

    /// Adds the interceptor's work to the rule of its entry.
    func equip(_ rule: inout Rule)
    /// A description in a few words: names only, never values.
    var words: String { get }
}

extension BuiltIn {
    public static var sendsSecret: Bool { false }
    public static var sparesCalls: Bool { false }
    public var powers: Powers? { nil }
    public var readsAnswer: Bool { false }
}
