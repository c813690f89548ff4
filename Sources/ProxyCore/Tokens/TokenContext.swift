/// The part of an exchange's context that token filters use.
struct TokenContext {
    let store: (any TokenStore)?
    let sender: RequestSender
    let errands: (any ErrandStore)?
}
