/// The texts and bytes that are kept of a flow, in the order in which they stand. Empty where there is none.
/// Their order is on disks, too: whoever changes it, and not how many there are, raises `FlowArchive.version`.
public enum FlowPart: Int, CaseIterable, Sendable {
    case client, user
    case action, realm, tree
    /// `service` or `composite_advice`, in the journey's beginning.
    case type
    /// RFC 9209's name of what went wrong.
    case proxyError
    /// The request as the client sent it. The target is path and query, `*`, or nothing in a CONNECT; the authority is the host in
    /// its normal form, without a port. Fields are lines, each with CR and LF.
    case method, authority, target, request, requestBody
    /// The request as it went out, where it is another.
    case sentMethod, sentURL, sent, sentBody
    /// The answer as it came, where it was delivered otherwise.
    case answer, answerBody
    /// The answer as it was delivered.
    case response, responseBody
    /// What happened: a JSON array of objects with `at_ms`, `event` and `text`, and where it is an interceptor's doing, `interceptor`,
    /// `did` and `phase`.
    case events
    /// The interceptors that did something, a line for each: what it did, with commas between, a space, and its name.
    case interceptors

    /// Secrets are looked for in it: an alias there stands for one. In the others it is what somebody wrote.
    var isCleaned: Bool {
        switch self {
        case .client, .user, .action, .type, .proxyError, .method, .authority, .sentMethod, .interceptors: false
        default: true
        }
    }
}
