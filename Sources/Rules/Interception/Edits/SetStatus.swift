public import Declaration
public import HTTPCodec

/// `set_status`.
public struct SetStatus: ResponseEdit {
    public static let name = "set_status"
    public static let doc = "Replaces the status."
    public static let shape = Shape.integer(200...599)

    public let status: Int

    public init(_ status: Int) { self.status = status }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let status = value.number else { return nil }
        self.init(status)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect {
        try DirectResponse.check(status: status)
        head.setStatus(status, reason: ReasonPhrase.of(status))
        return .changed(["set status \(status)"])
    }
}
