/// The reason why an origin sent no usable response, as `when: error` distinguishes it.
public enum OriginFault: CaseIterable, Sendable {
    /// The name has no address, or the lookup failed.
    case unresolvable
    /// The name was not resolved in time.
    case unresolved
    case connectionRefused
    case connectionTimeout
    /// No route to the origin.
    case unreachable
    /// An upstream proxy refused the tunnel or the credentials.
    case proxyRefused
    /// The TLS handshake or the TLS connection failed.
    case tls
    case handshakeTimeout
    /// The connection ended before a response.
    case terminated
    /// The connection ended within the response.
    case incomplete
    case responseTimeout
    /// The response is invalid HTTP.
    case malformed

    /// The names in the configuration. A fault may belong to several kinds.
    public enum Kind: String, CaseIterable, Sendable {
        case connect, dns, incomplete, malformed, proxy, refused, reset, timeout, tls
    }

    public var kinds: [Kind] {
        switch self {
        case .unresolvable: [.dns]
        case .unresolved: [.dns, .timeout]
        case .connectionRefused: [.refused, .connect]
        case .connectionTimeout: [.connect, .timeout]
        case .unreachable: [.connect]
        case .proxyRefused: [.proxy, .connect]
        case .tls: [.tls]
        case .handshakeTimeout: [.tls, .timeout]
        case .terminated: [.reset]
        case .incomplete: [.incomplete, .reset]
        case .responseTimeout: [.timeout]
        case .malformed: [.malformed]
        }
    }

    /// - Parameter token: a proxy error type of RFC 9209 §2.3.
    /// - Returns: nil for errors caused by the client, the configuration or Usher itself.
    public init?(token: String) {
        switch token {
        case "dns_error": self = .unresolvable
        case "dns_timeout": self = .unresolved
        case "connection_refused": self = .connectionRefused
        case "connection_timeout": self = .connectionTimeout
        case "destination_not_found", "destination_unavailable", "destination_ip_unroutable": self = .unreachable
        case "tls_certificate_error", "tls_protocol_error", "tls_alert_received": self = .tls
        case "connection_terminated": self = .terminated
        case "http_response_incomplete": self = .incomplete
        case "http_response_timeout": self = .responseTimeout
        case "http_protocol_error": self = .malformed
        default: return nil
        }
    }
}
