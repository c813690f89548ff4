internal import TLSEngine

/// HMAC (RFC 2104), for the sandbox's own tokens, device messages and one-time passwords.
enum Signature {
    /// The code. If OpenSSL fails, random bytes are returned, so that no signature is ever accepted.
    static func code(_ message: [UInt8], key: [UInt8], _ hash: MessageCode.Hash = .sha256) -> [UInt8] {
        MessageCode.hmac(hash, key: key, message) ?? (0..<32).map { _ in UInt8.random(in: 0...255) }
    }
}
