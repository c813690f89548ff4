internal import COpenSSL

/// Receives a line of the NSS key log format without its line end. Called on the connection's loop.
public typealias KeyLog = @Sendable (String) -> Void

/// The server side of TLS towards clients, shared by the connections of one loop. It speaks TLS 1.2 and 1.3, resumes
/// sessions by tickets, and selects a protocol by ALPN (RFC 7301).
public final class ServerContext {
    private let handle: OpaquePointer
    private let tickets: TicketKeys
    private let keyLog: KeyLog?

    /// - Parameters:
    ///   - key: the key of all leaf certificates.
    ///   - chain: the certificates that are sent after the leaf.
    /// - Throws: `MaterialFault` if the key or the chain is unusable.
    public init(key: PrivateKey, chain: [Certificate], tickets: TicketKeys, keyLog: KeyLog? = nil)
        throws(MaterialFault)
    {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let handle = SSL_CTX_new(TLS_server_method()) else {
            throw MaterialFault("cannot be used: there is no memory for TLS")
        }
        self.handle = handle
        self.tickets = tickets
        self.keyLog = keyLog
        try HandshakeParameters(minimum: .tls12, ciphers: "ECDHE+AESGCM:ECDHE+CHACHA20").apply(to: handle)
        SSL_CTX_set_options(
            handle,
            usher_SSL_OP_NO_RENEGOTIATION | usher_SSL_OP_NO_COMPRESSION | usher_SSL_OP_CIPHER_SERVER_PREFERENCE
                | usher_SSL_OP_PRIORITIZE_CHACHA)
        usher_SSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN))
        usher_SSL_CTX_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
        try LibraryCall.material(SSL_CTX_set_num_tickets(handle, 1) == 1, "SSL_CTX_set_num_tickets")
        SSL_CTX_set_alpn_select_cb(handle, selectProtocol, nil)
        try LibraryCall.material(
            SSL_CTX_set_ex_data(handle, 0, Unmanaged.passUnretained(tickets).toOpaque()) == 1, "SSL_CTX_set_ex_data")
        try LibraryCall.material(
            SSL_CTX_set_tlsext_ticket_key_evp_cb(handle, sealTicket) == 1, "SSL_CTX_set_tlsext_ticket_key_evp_cb")
        if keyLog != nil { SSL_CTX_set_keylog_callback(handle, logKey) }
        guard SSL_CTX_use_PrivateKey(handle, key.handle) == 1 else {
            throw MaterialFault("holds a key that TLS cannot use")
        }
        for certificate in chain where usher_SSL_CTX_add1_extra_chain_cert(handle, certificate.handle) != 1 {
            throw MaterialFault("holds a chain that cannot be sent")
        }
    }

    deinit { SSL_CTX_free(handle) }

    /// Creates a stream for a connection with this certificate. A session resumes only under the same certificate, so it is
    /// valid for its own name (RFC 6066 §3) and its own CA.
    /// - Parameter protocols: the accepted protocols, the preferred first. A client that offers only others is refused.
    public func stream(
        showing leaf: Certificate, speaking protocols: [ApplicationProtocol] = [.http11]
    ) throws(TLSFault) -> TLSStream {
        let stream = try TLSStream(handle, context: self, isServer: true)
        stream.keyLog = keyLog
        stream.protocols = protocols
        let digest = leaf.sha256
        try stream.configure { (ssl) throws(TLSFault) in
            try LibraryCall.connection(SSL_use_certificate(ssl, leaf.handle) == 1, "SSL_use_certificate")
            // without a digest, sessions of one name would be valid for all others
            try LibraryCall.connection(
                !digest.isEmpty && SSL_set_session_id_context(ssl, digest, UInt32(digest.count)) == 1,
                "SSL_set_session_id_context")
        }
        return stream
    }
}

/// The first of the stream's protocols that the client offers. A client that offers only others is refused (RFC 7301 §3.2).
private func selectProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ count: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let length, let offered, let stream = TLSStream.of(ssl) else { return SSL_TLSEXT_ERR_NOACK }
    for wanted in stream.protocols.map(\.name) {
        var position = 0
        while position < Int(count) {
            let size = Int(offered[position])
            guard position + 1 + size <= Int(count) else { break }
            if size == wanted.count, CRYPTO_memcmp(offered + position + 1, wanted, size) == 0 {
                chosen.pointee = offered + position + 1
                length.pointee = UInt8(size)
                return SSL_TLSEXT_ERR_OK
            }
            position += 1 + size
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

private func sealTicket(
    _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?,
    _ cipher: OpaquePointer?, _ mac: OpaquePointer?, _ isSealing: Int32
) -> Int32 {
    guard let ssl, let name, let vector, let cipher, let mac, let data = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
    else { return -1 }
    return Unmanaged<TicketKeys>.fromOpaque(data)._withUnsafeGuaranteedRef { tickets in
        if isSealing == 1 { return tickets.seal(name: name, vector: vector, cipher, mac) ? 1 : -1 }
        // an unreadable ticket only means a full handshake
        guard let isOld = tickets.open(name: name, vector: vector, cipher, mac) else { return 0 }
        // since TLS 1.3 a ticket serves once (RFC 8446 appendix C.4), so each resumption gets a new one
        return isOld || SSL_version(ssl) >= TLS1_3_VERSION ? 2 : 1
    }
}

func logKey(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    TLSStream.of(ssl)?.keyLog?(String(cString: line))
}
