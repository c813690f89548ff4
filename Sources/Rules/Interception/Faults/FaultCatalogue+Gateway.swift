internal import HTTPCodec

/// Faults of a Gateway, and of resources.
extension FaultCatalogue {
    static let gateways: [NamedFault] = [
        NamedFault(
            "gateway-session-expired", .resourceSession, request: [StaleSession()],
            sees: "the Gateway's response to an unknown session",
            remedy: "forget the session, log in, and ask again"),
        NamedFault(
            "gateway-transaction-used", .replay,
            request: [RemoveQuery(["_txid"]), RemoveHeader(["X-TxID"])],
            sees: "another advice in response to the replay",
            remedy: "approve one more transaction at most, then show the response"),
        NamedFault(
            "gateway-advice-unknown-tree", .advice, response: [ChangedAdvice(.unknownTree)],
            sees: "an advice that names a tree that AM does not have",
            remedy: "report AM's 400 with errorCode 105; do not step up again"),
        NamedFault(
            "gateway-advice-empty", .advice, response: [ChangedAdvice(.empty)],
            sees: "an advice without a condition",
            remedy: "take it for a refusal"),
        NamedFault(
            "gateway-advice-truncated", .advice, response: [ChangedAdvice(.truncated)],
            sees: "an advice that cannot be decoded",
            remedy: "take it for a refusal; do not crash"),
        NamedFault(
            "gateway-too-many-requests", .resource, request: [Refusal(.empty(429), retryAfter: 2)],
            sees: "429 with Retry-After: 2 and no body",
            remedy: "wait as Retry-After says, then try again, a few times at most"),
        NamedFault(
            "gateway-unavailable", .resource, request: [Refusal(.empty(503), retryAfter: 2)],
            sees: "503 with Retry-After: 2 and no body",
            remedy: "wait as Retry-After says, then try again; keep session and tokens"),
    ]
}
