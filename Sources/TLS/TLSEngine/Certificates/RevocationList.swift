internal import COpenSSL

/// A certificate revocation list (RFC 5280 §5).
public final class RevocationList: @unchecked Sendable {
    // An X509_CRL does not change after it is made. OpenSSL locks its caches in it.
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { X509_CRL_free(handle) }
}
