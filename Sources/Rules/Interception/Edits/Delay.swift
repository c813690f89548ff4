public import Declaration
public import HTTPCodec

/// `delay`.
public struct Delay: RequestEdit, ResponseEdit {
    public static let name = "delay"
    public static let doc = "Delays the message by a time, or by a random time from a distribution."
    public static let shape = Shape.either(.duration(1...Distribution.longest), DistributionShape.object)
    public static let needs = EditNeed.nothing
    public static let powers = Powers.fault
    public static let sparesCalls = true

    public let time: Distribution

    public init(_ time: Distribution) { self.time = time }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        if let milliseconds = value.number {
            self.init(.fixed(milliseconds))
        } else {
            guard let time = DistributionShape.read(value, reader) else { return nil }
            self.init(time)
        }
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .delay(time) }
    public func apply(to head: inout ResponseHead) -> EditEffect { .delay(time) }
}
