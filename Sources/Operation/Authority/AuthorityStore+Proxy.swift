/// Beside a proxy that is running already.
extension AuthorityStore {
    /// Milliseconds that a proxy has to show its CA. Nobody waits for `usher env` longer than that.
    private static let timeout = 2_000

    /// The same as `certificatesOrMake`, for those who are about to trust a running proxy: a CA that it does not sign with
    /// would be of no use. It is refused, not fetched, for on a port of this machine anybody may listen.
    /// - Parameter proxy: where programs are led to. One that does not answer, or speaks TLS alone, is not asked.
    public func certificatesOrMake(
        beside proxy: ProxyAddress?, environment: [String: String]
    ) throws(FileError) -> (certificates: AuthorityCertificates, isNew: Bool) {
        if let proxy, !proxy.isSecure {
            var client = ProxyClient(proxy: proxy, credentials: proxy.credentials(in: environment))
            client.limit = Self.timeout
            if case .foreign(let fingerprint) = ServedAuthority(client, own: try certificates()) {
                throw FileError(
                    "the proxy on \(proxy.authority) signs with another CA (SHA-256 \(fingerprint)) than \(files.certificate) holds, so programs would not trust what it opens (\(remedy(beside: proxy)))"
                )
            }
        }
        return try certificatesOrMake()
    }

    /// What to do where a proxy signs with another CA.
    func remedy(beside proxy: ProxyAddress) -> String {
        let folder = state.file("proxy")
        let fetch = "curl -x \(proxy.url) --create-dirs -o \(folder)/ca.pem http://usher.proxy/ca.pem"
        return
            "set STATE_DIRECTORY to the daemon's folder; or, if you trust who runs it, fetch its CA: \(fetch) and set STATE_DIRECTORY=\(folder); or use usher run"
    }
}
