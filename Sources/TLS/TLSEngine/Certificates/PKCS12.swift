internal import COpenSSL

/// Containers of keys and certificates (RFC 7292): `.p12` and `.pfx` files.
public enum PKCS12 {
    /// The key in a container, with its certificate and that one's issuers in the container, without the root.
    /// - Throws: `MaterialFault` if it cannot be opened, or lacks the key or the key's certificate.
    public static func identity(_ bytes: [UInt8], password: SecretBytes?) throws(MaterialFault) -> Identity {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let container = bytes.withUnsafeBufferPointer {
            var next = $0.baseAddress
            return d2i_PKCS12(nil, &next, $0.count)
        }
        guard let container else { throw MaterialFault("is not a PKCS#12 container") }
        defer { PKCS12_free(container) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let isOpen = terminated(password).withBytes {
            // nil and an empty password differ here; without a password OpenSSL tries both
            let text = password == nil ? nil : $0.baseAddress?.assumingMemoryBound(to: CChar.self)
            return PKCS12_parse(container, text, &key, &certificate, &others) == 1
        }
        guard isOpen else { throw closed(password) }
        defer { OPENSSL_sk_free(others) }
        let heldKey = key.map(PrivateKey.init(owning:))
        let held = certificate.map(Certificate.init(owning:))
        let all = (0..<max(0, usher_sk_X509_num(others))).compactMap {
            usher_sk_X509_value(others, $0).map(Certificate.init(owning:))
        }
        guard let heldKey else { throw MaterialFault("holds no private key") }
        guard let held else { throw MaterialFault("holds no certificate for its private key") }
        return try Identity(certificate: held, chain: chain(above: held, among: all), key: heldKey)
    }

    /// A copy with a final zero byte for C.
    private static func terminated(_ password: SecretBytes?) -> SecretBytes {
        SecretBytes(count: (password?.count ?? 0) + 1) { target in
            target[target.count - 1] = 0
            password?.withBytes { target.copyMemory(from: $0) }
        }
    }

    private static func closed(_ password: SecretBytes?) -> MaterialFault {
        var isLocked = false
        var isOld = false
        while case let code = ERR_get_error(), code != 0 {
            let library = usher_ERR_GET_LIB(code)
            let reason = usher_ERR_GET_REASON(code)
            if library == ERR_LIB_PKCS12,
                reason == PKCS12_R_MAC_VERIFY_FAILURE || reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR
            {
                isLocked = true
            }
            if library == ERR_LIB_EVP, reason == usher_ERR_R_UNSUPPORTED || reason == EVP_R_UNSUPPORTED_ALGORITHM {
                isOld = true
            }
        }
        if isOld {
            return MaterialFault(
                "is encrypted in an old way that OpenSSL 3 does not read; open it with openssl pkcs12 -legacy and write it anew"
            )
        }
        if isLocked {
            return MaterialFault(
                password == nil
                    ? "is locked; give its password" : "is locked with another password; correct the password")
        }
        return MaterialFault("is a PKCS#12 container that cannot be read")
    }

    /// Finds the issuers of a leaf. Containers hold them in any order, sometimes with other certificates.
    private static func chain(above leaf: Certificate, among all: [Certificate]) -> [Certificate] {
        var chain: [Certificate] = []
        var rest = all
        var below = leaf
        while !below.isSelfIssued,
            let index = rest.firstIndex(where: { X509_check_issued($0.handle, below.handle) == X509_V_OK })
        {
            below = rest.remove(at: index)
            if !below.isSelfIssued { chain.append(below) }
        }
        return chain
    }
}
