internal import TLSEngine

/// What the sandbox signs with secrets of its own, and what devices and one-time passwords are checked by (HMAC, RFC 2104).
enum Signature {
    /// Where the library fails, bytes that nobody can know: what they sign is never taken for genuine.
    static func code(_ message: [UInt8], key: [UInt8], _ hash: MessageCode.Hash = .sha256) -> [UInt8] {
        MessageCode.hmac(hash, key: key, message) ?? (0..<32).map { _ in UInt8.random(in: 0...255) }
    }
}
