internal import COpenSSL

/// The versions of TLS that Usher speaks (RFC 5246, RFC 8446).
public enum TLSVersion: String, CaseIterable, Sendable {
    case tls12 = "1.2"
    case tls13 = "1.3"

    var number: Int32 { self == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION }
}
