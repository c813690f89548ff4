internal import COpenSSL

/// The parameters that a context accepts. Each call is checked, because OpenSSL would keep its wider defaults if it rejects a
/// list.
struct HandshakeParameters {
    var minimum: TLSVersion
    /// Cipher suites up to TLS 1.2; nil for OpenSSL's own.
    var ciphers: String?
    var suites = TLSVersion.suites
    var groups = "X25519:P-256:P-384"

    func apply(to context: OpaquePointer) throws(MaterialFault) {
        try LibraryCall.material(
            usher_SSL_CTX_set_min_proto_version(context, minimum.number) == 1, "SSL_CTX_set_min_proto_version")
        if let ciphers {
            try LibraryCall.material(SSL_CTX_set_cipher_list(context, ciphers) == 1, "SSL_CTX_set_cipher_list")
        }
        try LibraryCall.material(SSL_CTX_set_ciphersuites(context, suites) == 1, "SSL_CTX_set_ciphersuites")
        try LibraryCall.material(usher_SSL_CTX_set1_groups_list(context, groups) == 1, "SSL_CTX_set1_groups_list")
    }
}
