/// Access to the CA beside a running proxy.
extension AuthorityStore {
    /// In milliseconds. The longest wait for the proxy's CA, so that `usher env` stays fast.
    private static let timeout = 2_000

    /// Like `certificatesOrMake`, for clients of a running proxy. Refuses if the proxy uses another CA. The proxy's CA is never
    /// adopted, because any program may listen on a local port.
    /// - Parameter proxy: the address that programs use. A proxy that does not respond or requires TLS is not checked.
    public func certificatesOrMake(
        beside proxy: ProxyAddress?, environment: [String: String]
    ) throws(FileError) -> (certificates: AuthorityCertificates, isNew: Bool) {
        if let proxy, !proxy.isSecure {
            var client = ProxyClient(proxy: proxy, credentials: proxy.credentials(in: environment))
            client.limit = Self.timeout
            if case .foreign(let fingerprint) = ServedAuthority(client, own: try certificates()) {
                throw FileError(
                    "the proxy on \(proxy.authority) uses another CA (SHA-256 \(fingerprint)) than the one in "
                        + "\(files.certificate), so programs would not trust it (\(remedy(beside: proxy)))"
                )
            }
        }
        return try certificatesOrMake()
    }

    /// The remedy if the proxy uses another CA.
    func remedy(beside proxy: ProxyAddress) -> String {
        let folder = state.file("proxy")
        let fetch = "curl -x \(proxy.url) --create-dirs -o \(folder)/ca.pem http://usher.proxy/ca.pem"
        return
            "set STATE_DIRECTORY to the daemon's folder; or, if you trust its operator, fetch its CA: \(fetch) and "
            + "set STATE_DIRECTORY=\(folder); or use usher run"
    }
}
