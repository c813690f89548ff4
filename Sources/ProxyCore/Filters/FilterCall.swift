import Authorization
import Interception

/// A call of Usher's own: an exchange with its own Action, through the interceptors. An object, because every exchange has
/// room for one and hardly any has one.
final class FilterCall {
    typealias Told = (_ url: String) -> ExchangeMoment
    typealias Report = (_ answer: HeldResponse?, _ reason: String?) -> Void

    let call: ServerCall
    /// Where alone it may go.
    let bound: CallBound
    /// What is told when it goes out to that URL.
    let told: Told
    /// The interceptor whose login it is has no part in it.
    let issuer: String?
    /// The login whose answers it may carry.
    let login: LoginAttempt?
    /// How much of an answer is read.
    let maxResponseBytes: Int
    /// Bytes that whoever makes it keeps meanwhile.
    let keptBytes: Int
    /// Who hears the answer where whoever made the call is gone; nil where the call ends then.
    let heir: (any CallHeir)?
    /// Is told what came of a call that no exchange waits for: the answer, or why there is none.
    let report: Report?

    init(
        _ call: ServerCall, to bound: CallBound, maxResponseBytes: Int, keptBytes: Int = 0, issuer: String? = nil,
        login: LoginAttempt? = nil, heir: (any CallHeir)? = nil, report: Report? = nil, told: @escaping Told
    ) {
        self.call = call
        self.bound = bound
        self.told = told
        self.issuer = issuer
        self.login = login
        self.maxResponseBytes = maxResponseBytes
        self.keptBytes = keptBytes
        self.heir = heir
        self.report = report
    }
}
