internal import HTTPCodec

/// Faults of the network, and of proxies on the way.
extension FaultCatalogue {
    static let networks: [NamedFault] = [
        NamedFault(
            "network-slow-first-byte", .anything, response: [Delay(.fixed(3000))],
            sees: "the response 3 s late", remedy: "show that it waits; do not send the request twice"),
        NamedFault(
            "network-slow-body", .anything, response: [Throttle(100)],
            sees: "a body of 100 bytes a second", remedy: "limit the time between bytes, not that of the whole"),
        NamedFault(
            "network-reset", .anything, request: [Fault(.reset)],
            sees: "a reset without a response", remedy: "try idempotent requests again, once"),
        NamedFault(
            "network-closed", .anything, request: [Fault(.empty)],
            sees: "a close without a response", remedy: "try idempotent requests again, once"),
        NamedFault(
            "network-reset-in-body", .anything, response: [Fault(AnswerEnding(cut: .init(after: 16, resets: true)))],
            sees: "16 bytes of the body, then a reset", remedy: "drop the part; try idempotent requests again, once"),
        NamedFault(
            "network-body-truncated", .anything, response: [Fault(AnswerEnding(cut: .init(after: 16)))],
            sees: "16 bytes of the body, then a close", remedy: "drop the part; try idempotent requests again, once"),
        NamedFault(
            "network-dns-failed", .anything, request: [Fault(losing: .unresolvable)],
            sees: "Usher's 502 with Proxy-Status dns_error",
            remedy: "say that there is no connection; keep session and tokens"),
        NamedFault(
            "network-connection-refused", .anything, request: [Fault(losing: .connectionRefused)],
            sees: "Usher's 502 with Proxy-Status connection_refused",
            remedy: "say that the server is down; keep session and tokens"),
        NamedFault(
            "network-connection-timeout", .anything, request: [Fault(losing: .connectionTimeout)],
            sees: "Usher's 504 with Proxy-Status connection_timeout",
            remedy: "say that there is no connection; keep session and tokens"),
        NamedFault(
            "network-tls-refused", .secure, request: [Fault(losing: .tls)],
            sees: "Usher's 502 with Proxy-Status tls_protocol_error",
            remedy: "say that the connection is not secure; never fall back to http"),
    ]
}
