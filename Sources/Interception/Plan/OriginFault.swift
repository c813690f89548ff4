/// Why no answer came from an origin, or none that can be used, as far as interceptors tell it apart.
public enum OriginFault: CaseIterable, Sendable {
    /// The name has no address, or nobody would look it up.
    case unresolvable
    /// Nobody said in time whether the name has an address.
    case unresolved
    case connectionRefused
    case connectionTimeout
    /// There is no way to the origin.
    case unreachable
    /// An upstream proxy makes no tunnel to the origin, or wants other credentials.
    case proxyRefused
    /// TLS did not come about, or broke.
    case tls
    case handshakeTimeout
    /// The connection ended without an answer.
    case terminated
    /// The connection ended within the answer.
    case incomplete
    case responseTimeout
    /// The answer breaks HTTP.
    case malformed

    /// What a configuration calls them; some are of more than one kind.
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
    /// - Returns: nil for what the client, the configuration or Usher itself is to blame for.
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
