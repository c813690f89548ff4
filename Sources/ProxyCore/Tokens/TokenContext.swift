import Interception

/// The part of an exchange's context that token filters use.
struct TokenContext {
    let store: (any TokenStore)?
    let sender: RequestSender
    let errands: (any ErrandStore)?
    /// The Action of the request as the client sent it; LOGOUT also for a request that may be one.
    let classification: Classification?
}
