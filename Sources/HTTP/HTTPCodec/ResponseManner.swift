/// This hop's additions to the head of a response.
public struct ResponseManner: Sendable {
    /// This hop's entry for `Via`; empty adds none.
    public var via: [UInt8] = []
    /// The date for a response without a Date field (RFC 9110 §6.6.1); empty adds none.
    public var date: [UInt8] = []
    /// Further lines, each with its end.
    public var lines: [UInt8] = []
    /// Whether no request is read after this one.
    public var isLast = false
    /// Whether Usher made the response.
    public var isOwn = false
    /// Whether the response announces the end of the connection for reasons of this hop.
    public var closes = false

    public init() {}
}
