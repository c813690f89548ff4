/// This hop's additions to the head of a response.
public struct ResponseManner: Sendable {
    /// This hop's entry for `Via`; empty adds none.
    public var via: [UInt8] = []
    /// For an answer that does not say when it was made (RFC 9110 §6.6.1); empty adds none.
    public var date: [UInt8] = []
    /// Further lines, each with its end.
    public var lines: [UInt8] = []
    /// No request is read after this one.
    public var isLast = false
    /// It was made here.
    public var isOwn = false
    /// Whether the response announces the end of the connection for reasons of this hop.
    public var closes = false

    public init() {}
}
