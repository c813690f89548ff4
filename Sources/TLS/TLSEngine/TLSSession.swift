internal import COpenSSL

/// A session of an origin for resumption (RFC 8446 §2.2, RFC 5077).
public final class TLSSession {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    /// Whether the session may be resumed only once. In TLS 1.3 each resumption yields the next one (RFC 8446
    /// appendix C.4).
    public var isForOneUse: Bool { SSL_SESSION_get_protocol_version(handle) >= TLS1_3_VERSION }

    deinit { SSL_SESSION_free(handle) }
}
