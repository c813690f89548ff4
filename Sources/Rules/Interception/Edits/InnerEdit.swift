internal import Declaration

/// An edit that only built-in interceptors make. The configuration has no key for it.
protocol InnerEdit: Edit {}

extension InnerEdit {
    public static var name: String { "fault" }
    public static var doc: String { "" }
    public static var shape: Shape { .boolean }

    public init?(_ value: Decoded, _ reader: RuleReader) { return nil }
}
