internal import COpenSSL

/// The client side of TLS, towards origins: its trust, and the settings that all connections share. There is one for each
/// generation of the configuration, for all loops.
public final class OriginContext: @unchecked Sendable {
    // The SSL_CTX is set up in `init` and does not change afterwards, so OpenSSL allows threads to share it.
    private let handle: OpaquePointer
    private let keyLog: KeyLog?
    /// The limit of an origin's certificates in bytes.
    private static let maxChain = 48 << 10

    /// - Parameters:
    ///   - usesSystemTrust: trusts the CAs of the system, or of SSL_CERT_FILE and SSL_CERT_DIR. A folder of hashed names is
    ///     read on demand.
    ///   - systemTrust: the part that was read early.
    ///   - revocationLists: if there are any, an origin's certificate is looked up in its issuer's list.
    /// - Throws: `MaterialFault` if OpenSSL rejects one of them.
    public init(
        usesSystemTrust: Bool, extraTrust: [Certificate], revocationLists: [RevocationList], minimum: TLSVersion,
        systemTrust: SystemTrust? = nil, keyLog: KeyLog? = nil
    ) throws(MaterialFault) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let handle = SSL_CTX_new(TLS_client_method()) else {
            throw MaterialFault("cannot be used: there is no memory for TLS")
        }
        self.handle = handle
        self.keyLog = keyLog
        try HandshakeParameters(minimum: minimum).apply(to: handle)
        SSL_CTX_set_options(handle, usher_SSL_OP_NO_RENEGOTIATION | usher_SSL_OP_NO_COMPRESSION)
        usher_SSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
        usher_SSL_CTX_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        // they are kept with each session
        usher_SSL_CTX_set_max_cert_list(handle, Self.maxChain)
        SSL_CTX_sess_set_new_cb(handle, keepSession)
        SSL_CTX_set_cert_verify_callback(handle, verifyOrigin, nil)
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        if keyLog != nil { SSL_CTX_set_keylog_callback(handle, logKey) }

        let ahead = usesSystemTrust ? systemTrust?.take() : nil
        // the context owns it from here on
        if let ahead { SSL_CTX_set_cert_store(handle, ahead) }
        let store = SSL_CTX_get_cert_store(handle)
        if usesSystemTrust, ahead == nil, SSL_CTX_set_default_verify_paths(handle) != 1 {
            throw MaterialFault("the system's trusted authorities cannot be read")
        }
        for certificate in extraTrust where X509_STORE_add_cert(store, certificate.handle) != 1 {
            throw MaterialFault("\(certificate.subject) cannot be trusted")
        }
        for list in revocationLists where X509_STORE_add_crl(store, list.handle) != 1 {
            throw MaterialFault("a revocation list cannot be used")
        }
        // a named CA is trusted even if it is no root
        var flags = UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST)
        if !revocationLists.isEmpty { flags |= UInt(X509_V_FLAG_CRL_CHECK) }
        try LibraryCall.material(X509_STORE_set_flags(store, flags) == 1, "X509_STORE_set_flags")
    }

    deinit { SSL_CTX_free(handle) }

    /// A connection to an origin.
    /// - Parameters:
    ///   - name: a DNS name, which is sent (RFC 6066 §3) and must be in the certificate (RFC 9525), or an address, which only
    ///     must be in the certificate.
    ///   - session: from an earlier connection to this origin with the same demands.
    ///   - protocols: the offered protocols, the preferred first.
    public func stream(
        to name: String, _ demands: OriginDemands, session: TLSSession?,
        speaking protocols: [ApplicationProtocol] = [.http11]
    ) throws(TLSFault) -> TLSStream {
        let stream = try TLSStream(handle, context: self, isServer: false)
        stream.keyLog = keyLog
        stream.verification = OriginVerification(name: name, demands)
        try stream.configure { (ssl) throws(TLSFault) in
            let host = name.hasSuffix(".") ? String(name.dropLast()) : name
            // OpenSSL reads an empty name as any name, and a leading dot as all names below (X509_check_host(3))
            guard !host.isEmpty, !host.hasPrefix(".") else {
                throw TLSFault(.local, "the connection could not be set up: \(name) is not a host name")
            }
            let parameters = SSL_get0_param(ssl)
            if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
                // a common name is no host name (RFC 9525 §2)
                X509_VERIFY_PARAM_set_hostflags(
                    parameters,
                    UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
                try LibraryCall.connection(SSL_set1_host(ssl, host) == 1, "SSL_set1_host")
                try LibraryCall.connection(
                    usher_SSL_set_tlsext_host_name(ssl, host) == 1, "SSL_set_tlsext_host_name")
            }
            if let minimum = demands.minimum {
                try LibraryCall.connection(
                    usher_SSL_set_min_proto_version(ssl, minimum.number) == 1, "SSL_set_min_proto_version")
            }
            let offer = protocols.flatMap { [UInt8(truncatingIfNeeded: $0.name.count)] + $0.name }
            // unlike all others, this call returns 0 for success
            try LibraryCall.connection(
                SSL_set_alpn_protos(ssl, offer, UInt32(offer.count)) == 0, "SSL_set_alpn_protos")
            if let identity = demands.identity { try Self.show(identity, ssl) }
            if let session {
                try LibraryCall.connection(SSL_set_session(ssl, session.handle) == 1, "SSL_set_session")
            }
        }
        return stream
    }

    private static func show(_ identity: Identity, _ ssl: OpaquePointer) throws(TLSFault) {
        try LibraryCall.connection(
            SSL_use_certificate(ssl, identity.certificate.handle) == 1, "SSL_use_certificate")
        try LibraryCall.connection(SSL_use_PrivateKey(ssl, identity.key.handle) == 1, "SSL_use_PrivateKey")
        for certificate in identity.chain {
            try LibraryCall.connection(
                usher_SSL_add1_chain_cert(ssl, certificate.handle) == 1, "SSL_add1_chain_cert")
        }
    }
}

/// The requirements for one origin's certificate, and the identity shown to that origin.
public struct OriginDemands: Sendable {
    /// False: any certificate is accepted.
    public var verifies = true
    /// SHA-256 digests of public keys. One of them has to be in the chain; empty allows any.
    public var pins: [[UInt8]] = []
    /// The minimum version; nil for the context's.
    public var minimum: TLSVersion?
    /// The identity for an origin that asks for a certificate.
    public var identity: Identity?

    public init() {}
}

/// False for a ticket of more than a few KiB, which is not worth its memory.
private func isKept(_ session: OpaquePointer) -> Bool {
    var count = 0
    SSL_SESSION_get0_ticket(session, nil, &count)
    return count <= 8 << 10
}

private func keepSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let session, let stream = TLSStream.of(ssl), isKept(session) else { return 0 }
    stream.keep(TLSSession(owning: session))
    return 1
}

private func verifyOrigin(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let stream = TLSStream.of(OpaquePointer(ssl))
    else { return 0 }
    return stream.verification?.accepts(store) == true ? 1 : 0
}
