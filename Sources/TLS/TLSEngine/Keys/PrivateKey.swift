internal import COpenSSL

/// A private key. OpenSSL overwrites its private numbers when it frees them (EVP_PKEY_free(3), for elliptic curves and RSA).
/// The source of the key is overwritten once it is read.
public final class PrivateKey: @unchecked Sendable {
    // An EVP_PKEY does not change after it is made, and OpenSSL counts its references atomically.
    let handle: OpaquePointer
    /// The public half as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7). Encoded once, because every certificate for this key
    /// contains it. Empty if OpenSSL cannot encode it.
    let publicKeyInfo: [UInt8]

    init(owning handle: OpaquePointer) {
        self.handle = handle
        publicKeyInfo = Encoded.bytes { i2d_PUBKEY(handle, $0) }
    }

    deinit { EVP_PKEY_free(handle) }

    /// A new key on the curve P-256.
    public static func makeP256() throws(MaterialFault) -> PrivateKey {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let key = usher_EVP_EC_gen("P-256") else {
            throw MaterialFault("could not be made: OpenSSL makes no key")
        }
        return PrivateKey(owning: key)
    }

    /// The key identifier, 20 bytes: the beginning of a digest of `publicKeyInfo` (RFC 7093 §2, method 4).
    var identifier: [UInt8] { Array(Encoded.sha256(publicKeyInfo).prefix(20)) }

    /// Reads the first private key among PEM blocks: PKCS#8, encrypted or not, SEC 1 (`EC PRIVATE KEY`) or PKCS#1
    /// (`RSA PRIVATE KEY`).
    /// - Parameter password: for an encrypted key; ignored otherwise.
    /// - Throws: `MaterialFault` if there is no readable key.
    public convenience init(pem: SecretBytes, password: SecretBytes? = nil) throws(MaterialFault) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let key = try pem.withBytes { bytes throws(MaterialFault) in
            let reader = PEMReader(bytes)
            while let block = try reader.next() {
                guard block.name.hasSuffix("PRIVATE KEY") else { continue }
                return try Self.read(block, password)
            }
            throw MaterialFault("holds no private key in PEM")
        }
        self.init(owning: key)
    }

    private static func read(_ sealed: consuming PEMBlock, _ password: SecretBytes?) throws(MaterialFault)
        -> OpaquePointer
    {
        var block = sealed
        var wasEncrypted = block.isEncrypted
        if wasEncrypted {
            guard block.decrypt(try demanded(password)) else { throw wrongPassword }
        }
        let key: OpaquePointer?
        switch block.name {
        case "PRIVATE KEY": key = block.decoded({ d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1) }, freeing: free).flatMap(unwrap)
        case "ENCRYPTED PRIVATE KEY":
            let password = try demanded(password)
            wasEncrypted = true
            guard let outer = block.decoded({ d2i_X509_SIG(nil, $0, $1) }, freeing: X509_SIG_free) else {
                throw unreadable
            }
            defer { X509_SIG_free(outer) }
            let opened = password.withBytes {
                PKCS8_decrypt(outer, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            guard let opened else { throw wrongPassword }
            key = unwrap(opened)
        case "RSA PRIVATE KEY":
            key = block.decoded({ d2i_PrivateKey(EVP_PKEY_RSA, nil, $0, $1) }, freeing: EVP_PKEY_free)
        case "EC PRIVATE KEY": key = block.decoded({ d2i_PrivateKey(EVP_PKEY_EC, nil, $0, $1) }, freeing: EVP_PKEY_free)
        default:
            throw MaterialFault(
                "holds a private key in a form that is not read here (\(block.name)); make it PKCS#8 with openssl pkcs8 -topk8"
            )
        }
        // a wrong password may decrypt to something that only looks like a key
        guard let key else { throw wasEncrypted ? wrongPassword : unreadable }
        return key
    }

    private static func free(_ info: OpaquePointer) { PKCS8_PRIV_KEY_INFO_free(info) }

    private static func unwrap(_ info: OpaquePointer) -> OpaquePointer? {
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return EVP_PKCS82PKEY(info)
    }

    private static func demanded(_ password: SecretBytes?) throws(MaterialFault) -> SecretBytes {
        guard let password else { throw MaterialFault("holds a private key that is encrypted; give its password") }
        return password
    }

    private static var wrongPassword: MaterialFault {
        MaterialFault("holds a private key that this password does not open; correct the password")
    }

    private static var unreadable: MaterialFault { MaterialFault("holds a private key that is damaged") }

    /// The key as unencrypted PKCS#8 in PEM.
    /// - Throws: `MaterialFault` if it cannot be encoded.
    public func pem() throws(MaterialFault) -> SecretBytes {
        let written = MemoryText.writtenSecret {
            PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) == 1
        }
        guard let written else { throw MaterialFault("holds a private key that cannot be written") }
        return written
    }

    /// True if signing takes microseconds instead of milliseconds.
    public var signsQuickly: Bool { EVP_PKEY_get_base_id(handle) == EVP_PKEY_EC }

    /// True if the certificate has this key.
    public func fits(_ certificate: Certificate) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return X509_check_private_key(certificate.handle, handle) == 1
    }
}
