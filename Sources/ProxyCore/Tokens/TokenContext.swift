import Interception

/// What of an exchange concerns tokens.
struct TokenContext {
    let store: (any TokenStore)?
    let sender: RequestSender
    let errands: (any ErrandStore)?
    /// Of the request, as the client sent it; LOGOUT also for what may be one.
    let classification: Classification?
}
