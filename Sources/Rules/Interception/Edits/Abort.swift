public import Declaration
public import HTTPCodec

/// `abort`.
public struct Abort: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "abort"
    public static let doc = "Ends the exchange with 502."
    public static let shape = Shape.either(
        .text(.any), ObjectShape("abort", [Key("reason", .text(.any), "The reason, for the client and the log.")]))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.fault
    public static let sparesCalls = true
    public static let isLast = true

    public let reason: String

    public init(_ reason: String) { self.reason = reason }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(value.text ?? value.fields?.text("reason") ?? "") }

    public func apply(to head: inout RequestHead) -> EditEffect { .abort(reason) }
    public func apply(to head: inout ResponseHead) -> EditEffect { .abort(reason) }
    public func apply() -> EditEffect { .abort(reason) }
}
