import Authorization
import HTTPCodec
import Interception

/// Adds a session to a request without one: a session learned from its client, or one of Usher's own login.
final class SessionFilter: Filter {
    /// The next step once there is a session.
    private enum Purpose {
        /// Send the request.
        case send
        /// Send the request again if the session is a new one; else the client gets this response.
        case renew(HeldResponse, ProvidedSession.Own)
    }

    private enum Stage {
        case watching
        /// No login is pending: the session is at hand, or there is none.
        case ready
        /// Another exchange logs in.
        case queueing(Purpose, CredentialWait<KeptSession>)
        /// The login waits for other logins with the same answers.
        case holding(Purpose, CredentialFetch<KeptSession>, SessionConversation)
        case talking(Purpose, CredentialFetch<KeptSession>, SessionConversation)
    }

    private let policy: AuthorizationPolicy
    let provided: ProvidedSession
    private var stage = Stage.watching
    private var whole: Int?
    /// The time limit of a call that the request can do without.
    private var optional: Int?
    /// The login that is under way.
    private var login: LoginAttempt?
    /// The existing session, if its idle time may be reset.
    private var renewing: OwnSession?
    /// The session to send if the login fails.
    private var fallback: ProvidedSession.Own?
    /// The token that the previous attempt sent.
    private var shown: String?
    /// The current attempt carries the session.
    private var isSent = false
    private lazy var key = SessionKey(policy)
    /// The refusal of the session that is to be replaced.
    private var refusal: CredentialLedger<KeptSession>.Refusal?

    /// A larger response, in bytes, goes to the client even if it is a refusal.
    private static let largestRefusal = 64 << 10
    private static let clockDifference = 1_000
    /// Milliseconds in which AM must report the lifetime of an existing session.
    private static let optionalTime = 1_000

    init(_ policy: AuthorizationPolicy, _ provided: ProvidedSession) {
        self.policy = policy
        self.provided = provided
    }

    private var limit: Int? { optional.map { min($0, whole ?? .max) } ?? whole }

    var hold: FilterHold? {
        guard isActive else { return nil }
        return FilterHold(
            isActive: true, keepsResponse: kept != nil, bytes: kept?.body.count ?? 0, limit: limit)
    }

    private var isActive: Bool {
        switch stage {
        case .watching, .ready: false
        case .queueing, .holding, .talking: true
        }
    }
    private var kept: HeldResponse? {
        switch stage {
        case .queueing(.renew(let held, _), _), .holding(.renew(let held, _), _, _),
            .talking(.renew(let held, _), _, _):
            held
        case .watching, .ready, .queueing, .holding, .talking: nil
        }
    }

    // MARK: filter

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .ready: return prepare(&context) ?? .proceed
        case .leaving: show(in: &head, &context)
        }
        return .proceed
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: headCame(&head, context)
        case .offered:
            guard isSent, !provided.hasRenewed, !isActive, provided.isShared else { break }
            if policy.asksToSignIn(head, to: context.sent) { return .hold(upTo: Self.largestRefusal) }
        case .whole(let response): return consider(response, &context)
        case .tooLarge: break
        }
        return .proceed
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        switch event {
        case .answered(let response): answered(response, &context)
        case .failed(let reason): failed(reason, &context)
        case .woke: woke(&context)
        }
    }

    func end(_ end: FilterEnd) {
        guard case .decided = end else { return }
        stage = .watching
        login = nil
    }

    // MARK: before the request goes out

    private func prepare(_ context: inout FilterContext) -> FilterAction? {
        if let refused = provided.takeRefused() { return ask(.send, insteadOf: refused, &context) }
        if case .ready = stage { return nil }
        guard provided.source == nil, policy.refusalToShowSession(on: context.sent) == nil, context.unproven == nil
        else {
            return nil
        }
        switch policy.sessions.source {
        case .request: return nil
        case .learned:
            let words = learn(context)
            context.note(.session(words))
            return nil
        case .login:
            if let refusal = context.refusal(listed: policy.origins) {
                context.note(.session("no session: not added: \(refusal)"))
                return nil
            }
            return ask(.send, &context)
        }
    }

    /// Describes the learned session for the log.
    private func learn(_ context: FilterContext) -> String {
        let refusal = context.refusal(listed: policy.origins).map { "no session: not added: \($0)" }
        guard context.sessions != nil else {
            return refusal ?? "the session goes along \(policy.words(of: .learned))"
        }
        guard let client = context.client.learned(policy.sessions.identity, context.request) else {
            return "no session: the request does not tell whose it is (authorization.learned.by)"
        }
        guard let found = context.learned(client, policy)?.session else {
            return refusal ?? "no session: no login of this client at \(policy.server.url) was seen"
        }
        provided.take(learned: found)
        return "with the session of this client's login at \(policy.server.url)"
    }

    private func show(in head: inout RequestHead, _ context: inout FilterContext) {
        stage = .watching
        isSent = false
        guard let session = provided.source else { return }
        let name = policy.server.cookie
        var cookies = CookieText(head.fields.values(named: "Cookie").joined(separator: "; "))
        // a cookie that an interceptor has set stays
        if cookies[name].map({ $0 != shown }) ?? (head.fields[name] != nil) { return }
        if let refusal = policy.refusalToShowSession(on: head) ?? context.unproven {
            context.note(.session("no session goes along: \(refusal)"))
            return
        }
        cookies.set(name, session.token)
        head.fields.set("Cookie", cookies.text)
        shown = session.token
        isSent = true
    }

    /// - Returns: nil if the request may go out.
    private func ask(
        _ purpose: Purpose, insteadOf refused: ProvidedSession.Own? = nil, _ context: inout FilterContext
    ) -> FilterAction? {
        guard let store = context.sessions?.own else {
            stage = .ready
            context.note(.session("the session goes along \(policy.words(of: .login))"))
            return nil
        }
        if whole == nil { whole = context.now + policy.hold }
        var old = refused
        if case .renew(_, let own) = purpose { old = own }
        refusal = old.map { .init(generation: $0.generation, path: "") }
        return go(on: purpose, CredentialStep(key, from: store, after: refusal, context.time), store, &context)
    }

    private func go(
        on purpose: Purpose, _ step: CredentialStep<KeptSession>, _ store: any CredentialStore<KeptSession>,
        _ context: inout FilterContext
    ) -> FilterAction? {
        switch step {
        case .use(let kept): return done(kept, purpose)
        case .wait(let wait):
            stage = .queueing(purpose, wait)
            return .waitFor(wait.ticket, until: bounded(wait.until))
        case .fetch(let fetch):
            // the existing session, which is to be renewed
            fallback = store.change { $0.kept(key) }
            let old = fallback?.value.session
            // the clocks of the due time and of this exchange may differ a little
            renewing = old.flatMap { context.now + Self.clockDifference < $0.renewableUntil ? $0 : nil }
            return start(purpose, fetch, SessionConversation(policy, renewing: renewing?.source), &context)
        case .failed(let fault): return giveUp(fault.reason, purpose, &context)
        case .full: return giveUp("there is no room for more logins", purpose, &context)
        }
    }

    /// Begins the login, queues it, or gives it up if AM refused these answers recently.
    private func start(
        _ purpose: Purpose, _ fetch: CredentialFetch<KeptSession>, _ conversation: SessionConversation,
        _ context: inout FilterContext
    ) -> FilterAction? {
        if let logins = context.logins {
            let attempt = login ?? LoginAttempt(logins, policy.lockout)
            login = attempt
            switch attempt.ask(conversation.login) {
            case .go: break
            case .wait(let ticket):
                stage = .holding(purpose, fetch, conversation)
                return .waitFor(ticket, until: limit ?? .max)
            case .full:
                login = nil
                let reason = "there is no room for more logins"
                fetch.fail(LoginFault(reason: reason, isRefusal: false), pause: 0, context.time)
                return finish(reason, purpose, &context)
            case .held(let refusals, let milliseconds):
                login = nil
                let reason =
                    "AM refused these answers \(refusals) times in a row; they are not tried again yet (authorization.lockout)"
                fetch.fail(LoginFault(reason: reason, isRefusal: true), pause: milliseconds, context.time)
                return finish(reason, purpose, &context)
            }
        }
        var conversation = conversation
        let order = conversation.begin(context.circumstances)
        return perform(order, purpose, fetch, conversation, &context)
    }

    private func bounded(_ time: Int) -> Int { min(time, limit ?? .max) }

    // MARK: the conversation

    private func answered(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction? {
        guard case .talking(let purpose, let fetch, var conversation) = stage else { return nil }
        let order = conversation.answered(
            status: response.head.status, fields: response.head.fields, body: response.body, context.circumstances)
        return perform(order, purpose, fetch, conversation, &context) ?? .proceed
    }

    private func perform(
        _ order: SessionConversation.Command, _ purpose: Purpose, _ fetch: CredentialFetch<KeptSession>,
        _ conversation: SessionConversation, _ context: inout FilterContext
    ) -> FilterAction? {
        var conversation = conversation
        for sentence in conversation.takeNotes() { context.note(.session(sentence)) }
        stage = .talking(purpose, fetch, conversation)
        optional = nil
        switch order {
        case .send(let call):
            if conversation.hasSession { optional = context.now + Self.optionalTime }
            return .call(
                FilterCall(
                    call, to: .server(policy.server), maxResponseBytes: policy.maxResponseBytes,
                    keptBytes: context.body.count + (kept?.body.count ?? 0), login: login
                ) { .sessionCall(call.action, number: call.number, url: $0) })
        case .wait(let milliseconds): return .wait(until: bounded(context.now + milliseconds))
        case .won(let source, let times):
            login?.judge(.taken)
            login = nil
            let session = KeptSession(
                session: session(source, times, context), dueAt: context.now + times.due,
                until: context.now + times.lasts)
            let kept = fetch.win(session, context.time)
            context.note(.session("a session of Usher's own is at hand; it lasts \(times.lasts / 1000) s"))
            context.note(.won(.session))
            return done(kept, purpose)
        case .failed(let failure):
            login?.judge(failure.doubtsAnswers ? .refused : .unjudged)
            login = nil
            fetch.fail(
                LoginFault(reason: failure.reason, isRefusal: !failure.isTransient),
                pause: failure.isTransient ? 0 : key.coolDown, context.time)
            return finish(failure.reason, purpose, &context)
        }
    }

    /// The new session, or the existing one if AM reports that it is valid.
    private func session(_ source: SessionSource, _ times: SessionTimes, _ context: FilterContext) -> OwnSession {
        if let renewing, renewing.source.isSame(as: source.token) { return renewing }
        let logOut = policy.sessions.login.logsOut ? context.sessions?.logOut : nil
        return OwnSession(
            source, at: policy.server, realm: policy.sessions.login.realm,
            renewableUntil: context.now + SessionTimes.due(of: times.total), onEnd: logOut)
    }

    private func done(_ own: ProvidedSession.Own, _ purpose: Purpose) -> FilterAction? {
        stage = .ready
        whole = nil
        optional = nil
        provided.take(own, key)
        guard case .renew(let held, let old) = purpose else { return nil }
        // AM reports that the session is valid, so the resource refused it for another reason
        return own.value.session.source.isSame(as: old.value.session.source.token)
            ? .giveBack(held) : .again(held)
    }

    /// Handles a failed login: a session that is still valid is sent.
    private func finish(_ reason: String, _ purpose: Purpose, _ context: inout FilterContext) -> FilterAction? {
        if case .send = purpose, let fallback {
            context.note(.session("\(reason); the session that there is goes along until its end"))
            return done(fallback, purpose)
        }
        return giveUp(reason, purpose, &context)
    }

    /// Sends the request without a session; the resource decides about it.
    private func giveUp(_ reason: String, _ purpose: Purpose, _ context: inout FilterContext) -> FilterAction? {
        stage = .ready
        whole = nil
        optional = nil
        login = nil
        provided.drop()
        if case .renew(let held, _) = purpose {
            context.note(.session("no session: \(reason); the client got the original response"))
            return .giveBack(held)
        }
        context.note(.session("no session: \(reason); the request goes out without"))
        return nil
    }

    private func failed(_ reason: String, _ context: inout FilterContext) -> FilterAction? {
        switch stage {
        case .watching, .ready: return nil
        case .queueing(let purpose, _), .holding(let purpose, _, _):
            return giveUp(reason, purpose, &context) ?? .proceed
        case .talking(let purpose, let fetch, var conversation):
            if let order = conversation.failed(reason) {
                return perform(order, purpose, fetch, conversation, &context) ?? .proceed
            }
            // AM may have refused the answers that it got
            login = nil
            fetch.fail(LoginFault(reason: reason, isRefusal: false), pause: 0, context.time)
            return finish(reason, purpose, &context) ?? .proceed
        }
    }

    private func woke(_ context: inout FilterContext) -> FilterAction? {
        guard isActive else { return nil }
        if let limit, context.now >= limit {
            let isOptional = optional != nil
            optional = nil
            return failed(
                isOptional
                    ? "AM was asked about the session and did not respond in time"
                    : "the login took longer than authorization.hold allows", &context)
        }
        switch stage {
        case .watching, .ready: return nil
        case .queueing(let purpose, let wait):
            guard let store = context.sessions?.own else { return nil }
            return go(
                on: purpose, CredentialStep(key, from: store, after: refusal, waited: wait, context.time), store,
                &context)
                ?? .proceed
        case .holding(let purpose, let fetch, let conversation):
            return start(purpose, fetch, conversation, &context) ?? .proceed
        case .talking(let purpose, let fetch, var conversation):
            let order = conversation.woke(context.circumstances)
            return perform(order, purpose, fetch, conversation, &context) ?? .proceed
        }
    }

    // MARK: responses

    private func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard isSent, !provided.hasRenewed, let own = provided.own,
            policy.asksToSignIn(response.head, to: context.sent),
            !isAdvice(response.head, body: response.body, context)
        else { return .proceed }
        provided.hasRenewed = true
        guard let resource = policy.coverage(of: context.request)?.resource,
            policy.refusalToReplay(
                context.request, resource, bodyComplete: context.isWhole, after: response.head.status) == nil
        else { return .proceed }
        context.note(
            .session("the resource asks for a sign-in (\(response.head.status)); AM is asked about the session"))
        switch ask(.renew(response, own), &context) {
        case .giveBack?, nil: return .proceed
        case let action?: return action
        }
    }

    private func isAdvice(_ response: ResponseHead, body: [UInt8]?, _ context: FilterContext) -> Bool {
        guard let resource = policy.coverage(of: context.request)?.resource else { return false }
        let reader = AdviceReader(policy.forms(for: context.request, sent: context.sent, resource))
        return reader.read(status: response.status, fields: response.fields, body: body) != nil
    }

    /// Removes the session's cookies from the response, as the client does not know this session.
    private func headCame(_ response: inout ResponseHead, _ context: FilterContext) {
        guard isSent else { return }
        if provided.isShared {
            response.fields.removeCookies(named: policy.server.cookie)
        } else if response.status != 401, policy.asksToSignIn(response, to: context.sent),
            !isAdvice(response, body: nil, context),
            let client = context.client.learned(policy.sessions.identity, context.request)
        {
            context.sessions?.learned?.forget(client, at: policy.server.url)
        }
    }
}

extension FieldTable {
    /// Removes the Set-Cookie fields for a cookie of this name.
    fileprivate mutating func removeCookies(named name: String) {
        guard values(named: "Set-Cookie").contains(where: { SetCookie($0)?.name == name }) else { return }
        _ = removeAll { table, index in
            table.isNamed(index, "Set-Cookie") && SetCookie(table.value(index))?.name == name
        }
    }
}

extension SessionFilter {
    static let registration = FilterRegistration(.head, where: { !$0.authorization.isEmpty }) { setup in
        guard let covered = setup.covered, let provided = covered.provided(for: setup.request) else { return }
        setup.add(SessionFilter(covered.policy, provided))
    }
}
