/// The certificate chain and key by which one side of a handshake authenticates.
public struct Identity: Sendable {
    public let certificate: Certificate
    /// The certificates between that one and the root, in order; the root is not among them.
    public let chain: [Certificate]
    public let key: PrivateKey

    /// - Throws: `MaterialFault` where the key is not the certificate's.
    public init(certificate: Certificate, chain: [Certificate] = [], key: PrivateKey) throws(MaterialFault) {
        guard key.fits(certificate) else { throw MaterialFault("holds a key that is not the certificate's") }
        self.certificate = certificate
        self.chain = chain
        self.key = key
    }
}
