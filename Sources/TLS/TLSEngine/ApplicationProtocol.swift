/// A protocol inside TLS, by its ALPN name (RFC 7301 §6, RFC 9113 §3.2).
public enum ApplicationProtocol: String, CaseIterable, Sendable {
    case http2 = "h2"
    case http11 = "http/1.1"

    var name: [UInt8] { Array(rawValue.utf8) }
}
