internal import COpenSSL

/// A certificate revocation list (RFC 5280 §5).
public final class RevocationList: @unchecked Sendable {
    // An X509_CRL is not changed after it was made; what OpenSSL caches in it, it guards itself.
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { X509_CRL_free(handle) }
}
