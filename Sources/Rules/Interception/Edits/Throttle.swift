public import Declaration
public import HTTPCodec

/// `throttle`.
public struct Throttle: RequestEdit, ResponseEdit {
    public static let name = "throttle"
    public static let doc = "Limits the body to this many bytes per second."
    public static let shape = Shape.size(1...1 << 30, orUnlimited: false)
    public static let needs = EditNeed.nothing
    public static let powers = Powers.fault
    public static let sparesCalls = true

    /// In bytes per second.
    public let rate: Int

    public init(_ rate: Int) { self.rate = rate }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let rate = value.number else { return nil }
        self.init(rate)
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .throttle(rate) }
    public func apply(to head: inout ResponseHead) -> EditEffect { .throttle(rate) }
}
