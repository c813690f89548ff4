public import HTTPCodec

/// The head of a request as it goes out, and what its leg adds.
public struct OutgoingHead: Sendable {
    public var head: RequestHead
    public var forwarding: Forwarding
}
