public import Declaration
public import HTTPCodec

/// `timeout`.
public struct Timeout: RequestEdit {
    public static let name = "timeout"
    public static let doc =
        "Ends an attempt whose response head is late. The time starts when the attempt needs a connection."
    public static let shape = Shape.duration(1...86_400_000)
    public static let needs = EditNeed.nothing
    public static let powers = Powers.fault
    public static let sparesCalls = true

    public let milliseconds: Int

    public init(_ milliseconds: Int) { self.milliseconds = milliseconds }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let milliseconds = value.number else { return nil }
        self.init(milliseconds)
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .timeout(milliseconds) }
}
