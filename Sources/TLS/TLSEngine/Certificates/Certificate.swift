internal import COpenSSL

/// An X.509 certificate (RFC 5280).
public final class Certificate: @unchecked Sendable {
    // An X509 does not change after it is made. OpenSSL locks its caches in it.
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { X509_free(handle) }

    /// - Throws: `MaterialFault` unless the bytes are exactly one certificate in DER.
    public init(der: [UInt8]) throws(MaterialFault) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let parsed: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            guard let made = d2i_X509(nil, &next, bytes.count) else { return nil }
            guard next == bytes.baseAddress.map({ $0 + bytes.count }) else {
                X509_free(made)
                return nil
            }
            return made
        }
        guard let parsed else { throw MaterialFault("is not a certificate in DER") }
        handle = parsed
    }
}
