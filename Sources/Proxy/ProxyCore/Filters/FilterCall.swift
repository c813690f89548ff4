import Authorization
import Interception

/// A call by Usher: an exchange with its own Action that passes the interceptors. It is a class to keep exchanges small: each has
/// room for a call, and few make one.
final class FilterCall {
    typealias Told = (_ url: String) -> LogEvent
    typealias Report = (_ answer: HeldResponse?, _ reason: String?) -> Void

    let call: ServerCall
    /// The only destination that the call may go to.
    let bound: CallBound
    /// Makes the event to log when the call goes out to a URL.
    let told: Told
    /// The owner of the login. An interceptor does not apply to its own calls.
    let issuer: String?
    /// The login whose answers the call may carry.
    let login: LoginAttempt?
    /// The most bytes of a response's body that are read.
    let maxResponseBytes: Int
    /// Bytes that the caller keeps during the call.
    let keptBytes: Int
    /// Gets the response when the caller is gone; nil if the call then ends.
    let detachedCall: (any DetachedCall)?
    /// Gets the result of a call that no exchange waits for: the response, or the reason for its failure.
    let report: Report?

    init(
        _ call: ServerCall, to bound: CallBound, maxResponseBytes: Int, keptBytes: Int = 0, issuer: String? = nil,
        login: LoginAttempt? = nil, detachedCall: (any DetachedCall)? = nil, report: Report? = nil, told: @escaping Told
    ) {
        self.call = call
        self.bound = bound
        self.told = told
        self.issuer = issuer
        self.login = login
        self.maxResponseBytes = maxResponseBytes
        self.keptBytes = keptBytes
        self.detachedCall = detachedCall
        self.report = report
    }
    /// Tells the login that AM now gets its answers.
    func tellLogin() { if call.carriesAnswers { login?.tell() } }
}
