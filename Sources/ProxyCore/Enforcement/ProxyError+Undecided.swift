extension ProxyError {
    /// AM cannot be asked about what nobody looks into.
    static func undecided(_ host: String) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "requests to \(host) need a decision of AM (enforce: am), and nobody looks into this tunnel: name the host in tls.intercept"
        )
    }
}
