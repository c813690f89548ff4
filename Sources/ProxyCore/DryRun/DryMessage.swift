public import HTTPCodec

/// A request as its client sends it in a dry run: to the proxy, or in the tunnel.
public enum DryMessage: Sendable {
    /// In HTTP/1, byte for byte.
    case bytes([UInt8])
    /// In HTTP/2, on a connection of its own.
    case stream(RequestHead, body: [UInt8])

    var isStream: Bool { if case .stream = self { true } else { false } }
}
