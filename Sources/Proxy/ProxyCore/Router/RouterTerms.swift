/// The differences in routing between a client's exchange and a filter's call.
struct RouterTerms {
    /// Whether it is a filter's call. Calls have connections of their own, so that no client's request can disturb them.
    let isCall: Bool
    /// Whether AM must allow the request, and its response is searched for an advice.
    let isGuarded: Bool
    /// Whether there is a client: it takes interim responses and upgrades and may disconnect; origins may learn its identity.
    let hasClient: Bool
    /// Whether Content-Length is sent even without a body.
    let announcesLength: Bool

    static let client = RouterTerms(isCall: false, isGuarded: true, hasClient: true, announcesLength: false)
    static let call = RouterTerms(isCall: true, isGuarded: false, hasClient: false, announcesLength: true)
}
