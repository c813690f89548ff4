import Authorization
import HTTPCodec
import Interception

/// What tells whether credentials may be added on somebody's behalf.
struct CredentialGrounds {
    /// Why nothing that is secret goes along, where nothing proves that whoever is connected to is the host that the request
    /// names.
    let unproven: String?
    /// The client's request that is the cause of all this, as it sent it.
    let request: RequestHead
}

/// The exchange as a filter sees it.
struct FilterContext {
    /// As the client sent it.
    var request: RequestHead
    /// As it went out.
    var sent: RequestHead
    var body: [UInt8]
    /// The body as it goes out; nil where it is not here whole.
    var sentBody: [UInt8]?
    /// The request may have reached its origin in this attempt.
    var mayHaveArrived: Bool
    let time: CookieSessions.Now
    let stores: SharedStores
    let person: PersonContext
    let tokens: TokenContext
    let grounds: CredentialGrounds
    /// What it has to say of the exchange.
    var notes: [ExchangeMoment] = []

    mutating func note(_ moment: ExchangeMoment) { notes.append(moment) }

    var logins: (any LoginStore)? { stores.logins }
    var cookies: (any CookieSessionStore)? { stores.cookies }
    var state: (any StateStore)? { stores.state }
    var pushes: (any PushStore)? { stores.pushes }
    var sessions: SessionStores? { stores.sessions }
    var decisions: (any DecisionStore)? { stores.decisions }

    /// All of the body is in `body`.
    var isWhole: Bool { sentBody != nil }
    var client: RequestSender { tokens.sender }
    var circumstances: Circumstances {
        Circumstances(seconds: seconds, state: state, milliseconds: now, pushes: pushes)
    }
    var now: Int { time.milliseconds }
    /// Since 1970.
    var seconds: Int { time.seconds }

    /// Whom what this exchange takes of shared things counts for.
    var share: ClientKey { ClientKey(address: person.address, user: person.user) }

    /// A session is over, or another has taken its place: what AM decided for it is worth nothing any more.
    func endSessions(_ tokens: Set<String>) { decisions?.end(tokens) }

    /// Sessions are over, and nobody here knows which.
    func endAllSessions() { decisions?.change { $0.endAll() } }

    var unproven: String? { grounds.unproven }
    /// What had the client send its request.
    var initiator: RequestInitiator { RequestInitiator(grounds.request) }

    /// Why no credentials are added to the request for an entry that lists these origins.
    func obstacle(_ origins: PageOrigins) -> String? {
        unproven ?? initiator.refusal(listed: origins).map { "not added: \($0)" }
    }

    /// Whose winnings may go along, for an entry that lists these origins.
    func winners(_ origins: PageOrigins) -> [String] {
        initiator.winners(own: grounds.request.originText, listed: origins)
    }

    /// The same where another request is looked at: one that is Usher's own.
    func about(_ head: RequestHead, _ body: [UInt8]) -> FilterContext {
        var context = self
        context.request = head
        context.sent = head
        context.body = body
        context.sentBody = body
        context.mayHaveArrived = false
        return context
    }
}
