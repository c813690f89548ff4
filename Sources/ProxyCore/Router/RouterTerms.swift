/// What is different on the way to the origin by whom an exchange is for: a client, or a filter that makes a call.
struct RouterTerms {
    /// Its connections may have served other requests, and serve others afterwards. AM does not do twice what a call has it do, and
    /// an idle connection may have ended unseen.
    let sharesConnections: Bool
    /// AM is asked about it, and what is advised in its response is looked for.
    let isGuarded: Bool
    /// A client takes interim responses and another protocol, and may be gone; the origin may learn who it is.
    let hasClient: Bool
    /// Its length is announced even where there is no body.
    let announcesLength: Bool

    static let client = RouterTerms(sharesConnections: true, isGuarded: true, hasClient: true, announcesLength: false)
    static let call = RouterTerms(sharesConnections: false, isGuarded: false, hasClient: false, announcesLength: true)
}
