extension ProxyError {
    /// An interceptor sends the request to a host whose requests need AM's decision, though the client asked for another URL.
    static func unasked(_ host: String) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "interceptors send the request to \(host), where a decision of AM is needed (enforce: am): "
                + "name the URL that clients ask for there, too")
    }

    /// A field names another URL than the one that AM would decide on.
    static func hiddenURL(_ field: String, _ host: String) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 400,
            "the field \(field) names another URL to some servers, and requests to \(host) need a decision of AM "
                + "(enforce: am): ask for that URL itself, without the field")
    }

    /// The body names another method than the one that AM would decide on.
    static let hiddenMethod = ProxyError(
        "http_request_denied", status: 400,
        "the body has a parameter _method, which may name another method than the request's to some servers: send that "
            + "method itself")

    /// The tunnel's content may be for a host whose requests need AM's decision.
    static func unread(_ port: UInt16) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "this tunnel carries neither requests nor TLS that can be read, and its server does not speak first: "
                + "at port \(port) that may be for a host whose requests need a decision of AM (enforce: am)")
    }

    /// AM cannot decide on requests in a tunnel that is not decrypted.
    static func undecided(_ host: String) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "requests to \(host) need a decision of AM (enforce: am), and nobody looks into this tunnel: name the host in tls.intercept"
        )
    }
}
