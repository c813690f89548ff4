/// The differences in routing between a client's exchange and a filter's call.
struct RouterTerms {
    /// Whether its connections may be shared with other requests. A call must reach AM only once, and an idle connection may
    /// have closed unnoticed.
    let sharesConnections: Bool
    /// Whether AM must allow the request, and its response is searched for an advice.
    let isGuarded: Bool
    /// Whether there is a client: it takes interim responses and upgrades and may disconnect; origins may learn its identity.
    let hasClient: Bool
    /// Whether Content-Length is sent even without a body.
    let announcesLength: Bool

    static let client = RouterTerms(sharesConnections: true, isGuarded: true, hasClient: true, announcesLength: false)
    static let call = RouterTerms(sharesConnections: false, isGuarded: false, hasClient: false, announcesLength: true)
}
