internal import COpenSSL

/// The reason why a TLS connection failed or ended.
public struct TLSFault: Error, Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The peer's certificate is not accepted.
        case certificate
        /// The peer sent this alert (RFC 8446 §6.2).
        case alert(UInt8)
        /// The peer's bytes are no valid TLS, or there is no common cipher.
        case protocolError
        /// There is no common version of TLS.
        case version
        /// The peer closed during the handshake.
        case closed
        /// The fault is on Usher's side.
        case local
    }

    public let kind: Kind
    /// The fault and, if there is a setting for it, the remedy. Begins in lower case without a full stop.
    public let words: String

    public init(_ kind: Kind, _ words: String) {
        self.kind = kind
        self.words = words
    }

    public static let closedInHandshake = TLSFault(
        .closed, "it closed the connection in the middle of the TLS handshake")

    /// The registered name of an alert (RFC 8446 §6.2, IANA's TLS Alerts); `alert 200` for one without a name.
    public static func alertName(_ number: UInt8) -> String { alertNames[number] ?? "alert \(number)" }

    /// True for an alert by which clients reject a certificate. Clients use these alerts interchangeably.
    public static func refusesCertificate(_ alert: UInt8) -> Bool { [42, 43, 44, 45, 46, 48].contains(alert) }

    private static let alertNames: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate",
        44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown", 47: "illegal_parameter",
        48: "unknown_ca", 49: "access_denied", 50: "decode_error", 51: "decrypt_error", 70: "protocol_version",
        71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
        100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension", 112: "unrecognized_name",
        113: "bad_certificate_status_response", 115: "unknown_psk_identity", 116: "certificate_required",
        120: "no_application_protocol",
    ]

    /// Converts OpenSSL's error.
    init(library: Int32?, reason: Int32?, words: String?) {
        guard let reason, let words, library == ERR_LIB_SSL else {
            self.init(.protocolError, words.map { "what it sent breaks TLS: \($0)" } ?? "the TLS connection broke")
            return
        }
        // higher numbers are received alerts
        if reason > SSL_AD_REASON_OFFSET, let alert = UInt8(exactly: reason - SSL_AD_REASON_OFFSET) {
            self.init(.alert(alert), "it sent the TLS alert \(alert) (\(Self.alertName(alert)))")
            return
        }
        switch reason {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
            self.init(.protocolError, "it does not speak TLS there: \(words)")
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_UNKNOWN_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE,
            SSL_R_WRONG_SSL_VERSION:
            self.init(.version, "it speaks no version of TLS that is allowed here: \(words)")
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS,
            SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
            self.init(.protocolError, "the two sides have no cipher or signature in common: \(words)")
        default: self.init(.protocolError, "what it sent breaks TLS: \(words)")
        }
    }
}
