internal import COpenSSL

/// What an origin gave to resume by (RFC 8446 §2.2, RFC 5077).
public final class TLSSession {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { SSL_SESSION_free(handle) }
}
