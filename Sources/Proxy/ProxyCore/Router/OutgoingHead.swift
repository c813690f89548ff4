public import HTTPCodec

/// The head of a request to send, with the fields that the codec adds.
public struct OutgoingHead: Sendable {
    public var head: RequestHead
    public var forwarding: Forwarding
}
