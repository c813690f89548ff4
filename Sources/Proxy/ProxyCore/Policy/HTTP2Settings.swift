internal import Addresses
internal import HTTPCodec
public import TLSEngine

/// `http2:` of the configuration.
public struct HTTP2Settings: Sendable {
    /// Clients may use HTTP/2.
    public var clients = true
    /// Origins may choose HTTP/2.
    public var origins = true
    /// Origins that speak HTTP/2 without TLS (prior knowledge, RFC 9113 §3.3).
    public var cleartext: [DestinationPattern] = []
    /// The most concurrent exchanges of one client connection.
    public var streams = 100

    public init() {}

    /// Usher speaks HTTP/2 without TLS to the origin.
    public func speaksCleartext(to origin: Origin) -> Bool {
        guard origin.scheme == .http else { return false }
        if origin.isSaidToSpeakHTTP2 { return true }
        guard !cleartext.isEmpty else { return false }
        if case .forward = origin.route { return false }
        let address = IPAddress(origin.host)
        return cleartext.contains { $0.covers(origin.host, port: origin.port, address: address) }
    }

    /// The protocols offered to clients in TLS, the preferred first.
    public var clientProtocols: [ApplicationProtocol] { clients ? [.http2, .http11] : [.http11] }
    /// The protocols offered to origins.
    public var originProtocols: [ApplicationProtocol] { origins ? [.http2, .http11] : [.http11] }
}
