internal import COpenSSL

/// The algorithm by which a key signs certificates. Every client verifies it for this kind of key.
struct SignatureAlgorithm {
    /// AlgorithmIdentifier in DER (RFC 5280 §4.1.1.2).
    let identifier: [UInt8]
    private let digest: OpaquePointer?

    /// - Throws: `MaterialFault` for a key that is neither on a curve nor RSA, or is too weak.
    init(_ key: PrivateKey) throws(MaterialFault) {
        let bits = EVP_PKEY_get_bits(key.handle)
        switch EVP_PKEY_get_base_id(key.handle) {
        case EVP_PKEY_EC:
            // ecdsa-with-SHA256, -SHA384 and -SHA512 (RFC 5758 §3.2): a digest as long as the curve's order
            guard bits >= 256 else { throw Self.weak("on a curve of", bits) }
            let last: UInt8 = bits <= 256 ? 2 : bits <= 384 ? 3 : 4
            digest = bits <= 256 ? EVP_sha256() : bits <= 384 ? EVP_sha384() : EVP_sha512()
            identifier = DER.sequence(DER.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, last]))
        case EVP_PKEY_RSA:
            // sha256WithRSAEncryption (RFC 4055 §5), with NULL parameters
            guard bits >= 2048 else { throw Self.weak("an RSA key of", bits) }
            digest = EVP_sha256()
            identifier = DER.sequence(
                DER.identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]), [0x05, 0x00])
        default: throw MaterialFault("cannot sign with a key of this kind; take one on the curve P-256, or RSA")
        }
    }

    private static func weak(_ kind: String, _ bits: Int32) -> MaterialFault {
        MaterialFault(
            "cannot sign with a key that is \(kind) \(bits) bits; take one on the curve P-256, or RSA of 2048 bits or more"
        )
    }

    /// - Returns: nil if OpenSSL fails.
    func sign(_ bytes: [UInt8], with key: PrivateKey) -> [UInt8]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Int(max(0, EVP_PKEY_get_size(key.handle))))
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, digest, nil, key.handle) == 1,
            EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, count <= signature.count
        else { return nil }
        return Array(signature[..<count])
    }
}
