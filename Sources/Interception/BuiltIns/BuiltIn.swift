public import Declaration

/// An interceptor whose whole work one key of its entry says, in the place of lists of edits: declared in one place, as an
/// edit is. The keys of the configuration, their schema and the loader are made of this; `BuiltInCatalogue` lists all of them.
public protocol BuiltIn: Sendable {
    /// The key of the configuration.
    static var name: String { get }
    /// One sentence, for editors and whoever asks what there is.
    static var doc: String { get }
    /// How the value is written.
    static var shape: Shape { get }
    /// True where it sends a secret along, so that its entry has to name the hosts that may get it.
    static var sendsSecret: Bool { get }
    /// True where its condition may look at the answer, too.
    static var readsAnswer: Bool { get }

    /// - Parameter value: of its shape.
    /// - Returns: nil where the value cannot be used; the reader has been told why.
    init?(_ value: Decoded, _ reader: RuleReader)

    /// Makes the rule of its entry do what it is for.
    func equip(_ rule: inout Rule)
    /// What it does, in a few words; names only, never values.
    var words: String { get }
}

extension BuiltIn {
    public static var sendsSecret: Bool { false }
    public static var readsAnswer: Bool { false }
}
