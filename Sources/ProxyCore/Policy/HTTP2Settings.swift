internal import Addresses
internal import HTTPCodec
public import TLSEngine

/// `http2:` of the configuration.
public struct HTTP2Settings: Sendable {
    /// Spoken with clients that offer it.
    public var clients = true
    /// Spoken with origins that choose it.
    public var origins = true
    /// Origins without TLS that are known to speak it (prior knowledge, RFC 9113 §3.3).
    public var cleartext: [DestinationPattern] = []
    /// How many exchanges one connection of a client may have at a time.
    public var streams = 100

    public init() {}

    /// The origin is spoken to in HTTP/2 without TLS.
    public func speaksCleartext(to origin: Origin) -> Bool {
        guard origin.scheme == .http else { return false }
        if origin.isSaidToSpeakHTTP2 { return true }
        guard !cleartext.isEmpty else { return false }
        if case .forward = origin.route { return false }
        let address = IPAddress(origin.host)
        return cleartext.contains { $0.covers(origin.host, port: origin.port, address: address) }
    }

    /// What clients are offered inside TLS, the most wanted first.
    public var clientProtocols: [ApplicationProtocol] { clients ? [.http2, .http11] : [.http11] }
    /// What origins are offered.
    public var originProtocols: [ApplicationProtocol] { origins ? [.http2, .http11] : [.http11] }
}
