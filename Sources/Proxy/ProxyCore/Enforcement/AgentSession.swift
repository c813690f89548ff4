import Authorization
import Interception

/// The session with which Usher asks AM, in one exchange. One exchange logs in for all, and the session is kept for all.
final class AgentSession {
    enum Command {
        case use(SessionSource)
        case call(FilterCall)
        /// Another exchange logs in.
        case waitFor(WaitingTicket, until: Int)
        case failed(String)
    }

    typealias Sharing = SharedLogin<CookieConversation>

    private let caller: Enforcement.Caller
    private let login: CookieLogin?
    private let server: AuthorizationServer
    private let sharedLogin = Sharing()
    /// The session was renewed: a new session that is refused at once has another fault.
    private var hasRenewed = false

    private static let largestAnswer = 64 << 10
    /// Its name in the log.
    private static let name = "authorization.enforce"

    init(_ enforcement: Enforcement, _ policy: AuthorizationPolicy) {
        caller = enforcement.caller
        server = policy.server
        guard case .login(let agent) = enforcement.caller else {
            login = nil
            return
        }
        let realm = enforcement.realm ?? policy.server.realms.first ?? "/"
        login = CookieLogin(
            interceptor: Self.name, .fields(user: agent.user, password: agent.password),
            place: policy.server.agentURL(realm: realm, tree: agent.tree), cookie: policy.server.cookie, renewBefore: 0,
            hold: policy.hold)
    }

    /// - Parameter user: the session of the client's request.
    func ask(_ user: SessionSource, _ context: inout FilterContext) -> Command {
        switch caller {
        case .app: .use(user)
        case .session(let token): .use(SessionSource(token: token, carrier: .cookie))
        case .login: ask(after: nil, &context)
        }
    }

    /// AM refused the session; another one is used, if there may be one.
    func renew(_ context: inout FilterContext) -> Command? {
        guard let wanted = wanted(context), let used = sharedLogin.session else { return nil }
        let refusal = CookieSessions.Refusal(generation: used.generation, path: "")
        guard !hasRenewed else {
            // a login did not help: none follows for a while
            wanted.store.change { $0.fruitless(wanted.key, refusal, context.time) }
            return nil
        }
        hasRenewed = true
        return ask(after: refusal, &context)
    }

    private func ask(after refusal: CookieSessions.Refusal?, _ context: inout FilterContext) -> Command {
        guard let wanted = wanted(context) else { return .failed("there is nowhere to keep a session") }
        return conclude(sharedLogin.ask(.send, wanted, after: refusal, context), &context)
    }

    private func wanted(_ context: FilterContext) -> Sharing.Wanted? {
        guard let login, let store = context.cookies else { return nil }
        let origin = server.url
        return Sharing.Wanted(key: CookieSessions.Key(login, origin: origin), store: store) {
            CookieConversation(login, origin: origin)
        }
    }

    /// Handles the response to its login's call.
    func called(_ response: HeldResponse, _ context: inout FilterContext) -> Command {
        guard let wanted = wanted(context), let outcome = sharedLogin.called(response, wanted, context) else {
            return .failed("nothing was asked")
        }
        return conclude(outcome, &context)
    }

    /// Handles a failed call of its login.
    func failed(_ reason: String, _ context: inout FilterContext) -> Command {
        guard let wanted = wanted(context), let outcome = sharedLogin.failed(reason, wanted, context) else {
            return .failed(reason)
        }
        return conclude(outcome, &context)
    }

    /// - Returns: nil while its own call is under way.
    func woke(_ context: inout FilterContext) -> Command? {
        guard let wanted = wanted(context), let outcome = sharedLogin.woke(wanted, context) else { return nil }
        return conclude(outcome, &context)
    }

    /// The exchange no longer needs it; others may log in.
    func rest() { sharedLogin.rest() }

    private func conclude(_ outcome: Sharing.Outcome, _ context: inout FilterContext) -> Command {
        switch outcome {
        case .found, .kept: return use()
        case .won:
            context.note(.login(interceptor: Self.name, "logged in to ask for decisions"))
            context.note(.won(.session))
            return use()
        case .lacking(let reason, _): return .failed(reason)
        case .waitFor(let ticket, let time): return .waitFor(ticket, until: time)
        case .call(let call, let url, let detachedCall):
            return .call(
                FilterCall(
                    call, to: .url(url), maxResponseBytes: Self.largestAnswer, keptBytes: context.body.count,
                    issuer: Self.name, detachedCall: detachedCall
                ) { .loginCall(call.action, interceptor: Self.name, number: call.number, url: $0) })
        }
    }

    private func use() -> Command {
        guard let session = sharedLogin.session, let token = session.jar[server.cookie]?.value else {
            return .failed("the login told no session")
        }
        return .use(
            SessionSource(
                token: token, carrier: .cookie, affinity: session.jar[SessionSource.affinityCookie]?.value))
    }
}
