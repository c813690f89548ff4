import Authorization
import HTTPCodec
import Interception

/// The exchange as a detour sees it.
struct DetourContext {
    /// As the client sent it.
    let request: RequestHead
    /// As it went out.
    let sent: RequestHead
    let body: [UInt8]
    /// All of the body is in `body`.
    let isWhole: Bool
    /// The request may have reached its origin in this attempt.
    let mayHaveArrived: Bool
    let now: Int
    /// Since 1970.
    let seconds: Int
    let logins: (any LoginStore)?
    let cookies: (any CookieSessionStore)?
    let state: (any StateStore)?
    let person: PersonContext
    let tokens: TokenContext
    let pushes: (any PushStore)?
    let sessions: SessionStores?
    /// Why nothing that is secret goes along, where nothing proves that whoever is connected to is the host that the request
    /// names.
    let unproven: String?

    var client: RequestSender { tokens.sender }
    var circumstances: Circumstances {
        Circumstances(seconds: seconds, state: state, milliseconds: now, pushes: pushes)
    }
    var time: CookieSessions.Now { CookieSessions.Now(milliseconds: now, seconds: seconds) }
}
