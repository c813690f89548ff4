/// The certificate chain and key by which one side of a handshake authenticates.
public struct Identity: Sendable {
    public let certificate: Certificate
    /// The certificates between the leaf and the root, in order, without the root.
    public let chain: [Certificate]
    public let key: PrivateKey

    /// - Throws: `MaterialFault` if the key is not the certificate's.
    public init(certificate: Certificate, chain: [Certificate] = [], key: PrivateKey) throws(MaterialFault) {
        guard key.fits(certificate) else { throw MaterialFault("holds a key that is not the certificate's") }
        self.certificate = certificate
        self.chain = chain
        self.key = key
    }
}
