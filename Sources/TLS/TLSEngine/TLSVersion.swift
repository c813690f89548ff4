internal import COpenSSL

/// The versions of TLS that Usher speaks (RFC 5246, RFC 8446).
public enum TLSVersion: String, CaseIterable, Sendable {
    case tls12 = "1.2"
    case tls13 = "1.3"

    /// Cipher suites of TLS 1.3 by preference, on both sides. Handshakes hash a lot, and processors have instructions for
    /// SHA-256. Browsers prefer the same order.
    static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    var number: Int32 { self == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION }
}
