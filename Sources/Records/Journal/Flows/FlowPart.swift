/// The stored texts and bytes of a flow in their order; empty if there is none.
/// Their order is part of the file format: raise `FlowArchive.version` if it changes while the count stays.
public enum FlowPart: Int, CaseIterable, Sendable {
    case client, user
    /// The id of the test session.
    case session
    case action, realm, tree
    /// `service` or `composite_advice`, for the beginning of a journey.
    case type
    /// The error type of RFC 9209.
    case proxyError
    /// The request as the client sent it. The target is path and query, `*`, or empty for CONNECT. The authority is the
    /// normalized host without a port. Fields are lines, each with CR and LF.
    case method, authority, target, request, requestBody
    /// The request as sent, if it differs.
    case sentMethod, sentURL, sent, sentBody
    /// The response as received, if it was delivered otherwise.
    case answer, answerBody
    /// The response as delivered.
    case response, responseBody
    /// The events: a JSON array of objects with `at_ms`, `event` and `text`. Actions of an interceptor also have `interceptor`,
    /// `did` and `phase`.
    case events
    /// The interceptors that acted, one line each: the actions separated by commas, a space, and the name.
    case interceptors

    /// True if the part is redacted, so that its aliases stand for secrets. In other parts, such text is literal.
    var isCleaned: Bool {
        switch self {
        case .client, .user, .session, .action, .type, .proxyError, .method, .authority, .sentMethod, .interceptors:
            false
        default: true
        }
    }
}
