public import HTTPCodec

/// A request as its client sends it in a dry run: to the proxy, or inside the tunnel.
public enum DryMessage: Sendable {
    /// HTTP/1, byte for byte.
    case bytes([UInt8])
    /// HTTP/2, on its own connection.
    case stream(RequestHead, body: [UInt8])

    var isStream: Bool { if case .stream = self { true } else { false } }
}
