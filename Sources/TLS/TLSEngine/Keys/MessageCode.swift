internal import COpenSSL

/// Message authentication codes (HMAC, RFC 2104).
public enum MessageCode {
    public enum Hash: String, CaseIterable, Sendable { case sha1, sha256, sha512 }

    /// Returns nil if the library fails.
    public static func hmac(_ hash: Hash, key: [UInt8], _ message: [UInt8]) -> [UInt8]? {
        let (function, size): (OpaquePointer?, Int) =
            switch hash {
            case .sha1: (EVP_sha1(), 20)
            case .sha256: (EVP_sha256(), 32)
            case .sha512: (EVP_sha512(), 64)
            }
        guard key.count <= Int(Int32.max) else { return nil }
        var code = [UInt8](repeating: 0, count: size)
        var length: UInt32 = 0
        // an empty array has no address, and for a nil key the library would reuse that of the previous call
        let place: [UInt8] = key.isEmpty ? [0] : key
        let made = HMAC(function, place, Int32(key.count), message, message.count, &code, &length)
        return made != nil && length == size ? code : nil
    }
}
