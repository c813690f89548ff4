import Authorization
import HTTPCodec
import Interception

/// The exchange as a filter sees it.
struct FilterContext {
    /// The request as the client sent it.
    var request: RequestHead
    /// The request as it went out.
    var sent: RequestHead
    var body: [UInt8]
    /// The body as it goes out; nil if it is not complete here.
    var sentBody: [UInt8]?
    /// In this attempt, the request may have reached its origin.
    var mayHaveArrived: Bool
    let time: CookieSessions.Now
    let stores: SharedStores
    let client: RequestSender
    /// The request's URL as the log shows it.
    let url: [UInt8]
    /// The client's request that started the exchange, as the client sent it.
    let initial: RequestHead
    /// The reason to add no secret: nothing proves that the connected server is the host that the request names.
    let unproven: String?
    let environments: Environments
    /// The filter's events for the log.
    var notes: [LogEvent] = []

    mutating func note(_ event: LogEvent) { notes.append(event) }

    var logins: (any LoginStore)? { stores.logins }
    var cookies: (any CookieSessionStore)? { stores.cookies }
    var state: (any StateStore)? { stores.state }
    var pushes: (any PushStore)? { stores.pushes }
    var sessions: SessionStores? { stores.sessions }
    var decisions: (any DecisionStore)? { stores.decisions }

    /// `body` holds the complete body.
    var isWhole: Bool { sentBody != nil }
    var circumstances: Circumstances {
        Circumstances(seconds: seconds, state: state, milliseconds: now, pushes: pushes)
    }
    var now: Int { time.milliseconds }
    /// Seconds since 1970.
    var seconds: Int { time.seconds }

    /// The client that this exchange's use of shared limits counts for.
    var share: ClientKey { ClientKey(address: client.address, user: client.user) }

    /// Drops AM's decisions for sessions that are over or were replaced.
    func endSessions(_ tokens: Set<String>) { decisions?.end(tokens) }

    /// Drops AM's decisions for all sessions, when it is unknown which ones ended.
    func endAllSessions() { decisions?.change { $0.endAll() } }

    /// The page or app that made the client send its request.
    var initiator: RequestInitiator { RequestInitiator(initial) }

    /// The reason to sign in for no request of this initiator, or at this host; nil if Usher may.
    func refusal(listed origins: PageOrigins) -> String? {
        environments.refusal(of: .stepUp, at: initial.host) ?? initiator.refusal(listed: origins)
    }

    /// The reason to add no credentials for an entry that lists these origins; nil if they may be added.
    func obstacle(_ origins: PageOrigins) -> String? {
        unproven ?? refusal(listed: origins).map { "not added: \($0)" }
    }

    /// The origins whose sessions and tokens may go with the request, for an entry that lists these origins.
    func winners(_ origins: PageOrigins) -> [String] {
        initiator.winners(own: initial.originText, listed: origins)
    }

    /// The same context for another request, which Usher makes itself.
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
