internal import COpenSSL

/// Encrypts and authenticates bytes with a key (AES-256-GCM, NIST SP 800-38D). Sealed bytes are bound to a name and do not open
/// under another.
public struct Sealing: Sendable {
    private let key: SecretBytes

    /// The size of a key in bytes.
    public static let keySize = 32
    private static let nonceSize = 12
    private static let tagSize = 16

    /// - Returns: nil unless the key has `keySize` bytes.
    public init?(key: SecretBytes) {
        guard key.count == Self.keySize else { return nil }
        self.key = key
    }

    /// Derives a key from a secret for one purpose.
    /// - Parameter secret: of any length; a final line end is ignored.
    public init?(for purpose: StaticString, of secret: SecretBytes) {
        var key = Self.derived(purpose, secret)
        self.init(key: SecretBytes(taking: &key))
    }

    /// `keySize` bytes that reveal nothing of the secret.
    public static func derived(_ purpose: StaticString, _ secret: SecretBytes) -> [UInt8] {
        var bytes = purpose.withUTF8Buffer { Array($0) } + secret.withBytes { Array($0) }
        // ignores the line end of a file
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        let digest = Digest.sha256(bytes)
        _ = SecretBytes(taking: &bytes)
        return digest
    }

    /// Returns nonce, ciphertext and tag; nil if the library fails.
    public func seal(_ bytes: [UInt8], name: String) -> [UInt8]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var nonce = [UInt8](repeating: 0, count: Self.nonceSize)
        guard RAND_bytes(&nonce, Int32(nonce.count)) == 1, bytes.count < Int(Int32.max),
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let begun = key.withBytes {
            EVP_EncryptInit_ex(
                context, EVP_aes_256_gcm(), nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce)
        }
        let names = Array(name.utf8)
        var count: Int32 = 0
        guard begun == 1, EVP_EncryptUpdate(context, nil, &count, names, Int32(names.count)) == 1 else { return nil }
        var sealed = [UInt8](repeating: 0, count: bytes.count + 16)
        guard EVP_EncryptUpdate(context, &sealed, &count, bytes, Int32(bytes.count)) == 1, Int(count) == bytes.count
        else { return nil }
        var rest = [UInt8](repeating: 0, count: 16)
        var tag = [UInt8](repeating: 0, count: Self.tagSize)
        guard EVP_EncryptFinal_ex(context, &rest, &count) == 1, count == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        return nonce + sealed.prefix(bytes.count) + tag
    }

    /// Returns nil if the bytes were changed, or sealed with another key or name.
    public func open(_ sealed: [UInt8], name: String) -> [UInt8]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let size = sealed.count - Self.nonceSize - Self.tagSize
        guard size >= 0, size < Int(Int32.max), let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let nonce = Array(sealed.prefix(Self.nonceSize))
        let inside = Array(sealed.dropFirst(Self.nonceSize).prefix(size))
        var tag = Array(sealed.suffix(Self.tagSize))
        let begun = key.withBytes {
            EVP_DecryptInit_ex(
                context, EVP_aes_256_gcm(), nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce)
        }
        let names = Array(name.utf8)
        var count: Int32 = 0
        guard begun == 1, EVP_DecryptUpdate(context, nil, &count, names, Int32(names.count)) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size + 16)
        var rest = [UInt8](repeating: 0, count: 16)
        guard EVP_DecryptUpdate(context, &bytes, &count, inside, Int32(size)) == 1, Int(count) == size,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_DecryptFinal_ex(context, &rest, &count) == 1
        else { return nil }
        return Array(bytes.prefix(size))
    }
}
