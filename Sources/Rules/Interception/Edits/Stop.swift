public import Declaration
public import HTTPCodec

/// `stop`.
public struct Stop: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "stop"
    public static let doc =
        "Ends the phase after this interceptor. Later ones do not run, and the message goes on."
    public static let shape = Shape.boolean
    public static let needs = EditNeed.nothing
    public static let powers = Powers.observe

    public init() {}

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let isAsked = value.flag else { return nil }
        guard isAsked else {
            reader.findings.warning(value.position, "stop: false has no effect; remove it")
            return nil
        }
        self.init()
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .stop }
    public func apply(to head: inout ResponseHead) -> EditEffect { .stop }
    public func apply() -> EditEffect { .stop }
}
