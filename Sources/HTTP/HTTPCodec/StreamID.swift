/// Names one of the exchanges that a connection carries at a time (a stream, RFC 9113 §5).
public struct StreamID: Hashable, Sendable {
    public let number: UInt32

    public init(_ number: UInt32) { self.number = number }
}

/// Why a stream ends before both of its messages are whole.
public enum StreamReset: Equatable, Sendable {
    /// The response is whole, and the rest of the request is not wanted (RFC 9113 §8.1).
    case complete
    /// The message was sent incompletely, and the rest will not come.
    case failed
}
