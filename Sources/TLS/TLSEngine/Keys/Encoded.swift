internal import COpenSSL

/// DER encodings by OpenSSL, and their digests.
enum Encoded {
    /// - Parameter write: the `i2d` function of the value (d2i_X509(3)).
    /// - Returns: no bytes if the encoding fails.
    static func bytes(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = Int(write(&bytes))
        guard count > 0, let bytes else { return [] }
        defer { usher_OPENSSL_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// 32 bytes; empty if the library fails, which equals no digest.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        return EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 ? digest : []
    }

    /// 20 bytes; empty if the library fails.
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        return EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 ? digest : []
    }

    /// True if the bytes begin a SEQUENCE of more than 127 bytes. Its length byte differs from any text that begins with `0`.
    static func isDER(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.first == 0x30 && (bytes.dropFirst().first ?? 0) > 0x80
    }
}
