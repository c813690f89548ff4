internal import COpenSSL

/// Signatures by ECDSA on P-256 with SHA-256, in the form of JSON Web Signatures (RFC 7518 §3.4).
extension PrivateKey {
    /// The two numbers of the signature, 32 bytes each. Nil if the key is of another kind, or if the library fails.
    public func es256(_ message: [UInt8]) -> [UInt8]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard publicPoint != nil, let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var size = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
            EVP_DigestSign(context, nil, &size, message, message.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: size)
        guard EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else { return nil }
        return Self.numbers(signature.prefix(size))
    }

    /// The coordinates of the public point, 32 bytes each; nil if the key is not on P-256.
    public var publicPoint: [UInt8]? {
        // the algorithm's identifiers, then a bit string with the uncompressed point (RFC 5480 §2)
        guard publicKeyInfo.count == Self.infoSize, publicKeyInfo[Self.infoSize - 65] == 0x04,
            publicKeyInfo.starts(with: Self.infoStart)
        else { return nil }
        return Array(publicKeyInfo.suffix(64))
    }

    private static let infoSize = 91
    private static let infoStart: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// A sequence of two integers in DER (RFC 3279 §2.2.3) as 64 bytes.
    private static func numbers(_ der: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = der
        func take(_ tag: UInt8) -> Int? {
            guard rest.count >= 2, rest.removeFirst() == tag else { return nil }
            let size = Int(rest.removeFirst())
            return size < 0x80 && size <= rest.count ? size : nil
        }
        guard let whole = take(0x30), whole == rest.count else { return nil }
        var out: [UInt8] = []
        for _ in 0..<2 {
            guard let size = take(0x02) else { return nil }
            let number = rest.prefix(size).drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            out += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(size)
        }
        return rest.isEmpty ? out : nil
    }
}
