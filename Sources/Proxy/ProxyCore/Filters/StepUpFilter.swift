import Authorization
import HTTPCodec
import Interception

/// Transactional authorization: reads the advice, talks to AM, replays the request (docs/protocol.md).
final class StepUpFilter: Filter {
    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    private var rounds: Rounds
    var stage = Stage.watching
    /// The results of earlier rounds; nil before the first.
    var replay: Replay?
    private(set) var limit: Int?
    /// The login that is under way, or that the replay will judge.
    var login: LoginAttempt?
    private(set) var cookieLines: [String] = []
    let sharing = UpgradeSharing()
    /// The session that Usher shows, if the request carries none.
    let provided: ProvidedSession?
    /// All clients share the session, though another filter shows it.
    let isShared: (SessionSource) -> Bool

    enum Stage {
        /// No advice has come, or its result was delivered.
        case watching
        /// Another exchange makes the same upgrade.
        case sharing(Round)
        /// The login waits for other logins of the same user.
        case queueing(Round, NextStep)
        /// AM is being asked, or will be asked again.
        case talking(Round)
        /// A person is being asked.
        case asking(Round, OpenStep, ParkedStep)
        /// The request is being sent again.
        case replaying(HeldResponse)
    }

    /// The next step once the login has its turn.
    enum NextStep {
        case begin
        case send(ServerCall)
        /// Send the machine's answers, with the current one-time passwords.
        case answer
    }

    init(
        policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource, provided: ProvidedSession? = nil,
        isShared: @escaping (SessionSource) -> Bool = { _ in false }
    ) {
        self.provided = provided
        self.isShared = isShared
        self.policy = policy
        self.resource = resource
        rounds = Rounds(policy)
    }

    var isActive: Bool {
        switch stage {
        case .sharing, .queueing, .talking, .asking: true
        case .watching, .replaying: false
        }
    }

    private var original: HeldResponse? {
        switch stage {
        case .sharing(let round), .queueing(let round, _), .talking(let round), .asking(let round, _, _): round.original
        case .replaying(let original): original
        case .watching: nil
        }
    }

    var hold: FilterHold? {
        guard let original else { return nil }
        // ends the step-up for a client that may be gone, unless others wait for the same
        return FilterHold(
            isActive: isActive, keepsResponse: true, bytes: original.body.count, limit: limit,
            endsWithClient: isActive && !sharing.isAwaited)
    }

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        if case .leaving = step { offer(in: &head, context) }
        return .proceed
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: stage = .watching
        case .offered: if let limit = wanted(of: head, context) { return .hold(upTo: limit) }
        case .whole(let response): return consider(response, &context)
        case .tooLarge: if !isActive { noteFlaw(reader(context), head, &context) }
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
        switch end {
        case .decided:
            stage = .watching
            login?.leave()
            sharing.leave()
        case .delivered(let status):
            guard let login, login.isGranted else { return }
            login.judge((200..<300).contains(status) ? .taken : .unjudged)
            self.login = nil
        case .cutShort: break
        }
    }

    /// Asks the resource for an advice, if the configuration says so.
    private func offer(in head: inout RequestHead, _ context: FilterContext) {
        guard context.isWhole, policy.offersHeader(on: head, resource),
            context.refusal(listed: policy.origins) == nil
        else { return }
        head.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
    }

    // MARK: advice

    private func reader(_ context: FilterContext) -> AdviceReader {
        AdviceReader(policy.forms(for: context.request, sent: context.sent, resource))
    }

    /// The most bytes of a response that the filter must see; nil for none.
    private func wanted(of response: ResponseHead, _ context: FilterContext) -> Int? {
        if isActive { return nil }
        let forms = policy.forms(for: context.request, sent: context.sent, resource)
        let reader = AdviceReader(forms)
        if reader.read(status: response.status, fields: response.fields, body: nil) != nil
            || reader.flaw(status: response.status, fields: response.fields) != nil
        {
            return policy.maxResponseBytes
        }
        guard reader.needsBody(status: response.status, fields: response.fields) else {
            return readsUncounted(response, forms)
        }
        return min(policy.maxResponseBytes, AdviceReader.maxBody)
    }

    func consider(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        let reader = reader(context)
        guard
            let advice = reader.read(
                status: response.head.status, fields: response.head.fields, body: response.body)
        else {
            noteFlaw(reader, response.head, &context)
            noteUncounted(response, policy.forms(for: context.request, sent: context.sent, resource), &context)
            return .proceed
        }
        let exchange = AdvisedExchange(
            request: context.request, sent: context.sent, body: context.body, bodyComplete: context.isWhole,
            resource: resource, status: response.head.status)
        if let doubt = policy.doubt(of: advice, in: exchange) {
            context.note(.notAdvice(doubt))
            return .proceed
        }
        context.note(
            .advice(status: response.head.status, host: context.request.host, summary: advice.summary))
        // the replay runs with the step-up's result, so the configuration must list the page's origin
        if let refusal = context.refusal(listed: policy.origins) {
            context.note(.declined(refusal))
            return .proceed
        }
        judgeLogin(by: advice, &context)
        if sharing.isOutdated(context.sessions?.upgrades) { rounds.giveBack(advice) }
        do throws(NoStepUp) {
            let round = try startRound(advice, response, in: exchange, context)
            if limit == nil { limit = context.now + policy.hold }
            login = nil
            return share(round, &context)
        } catch {
            context.note(.declined(error.reason))
            return .proceed
        }
    }

    private struct NoStepUp: Error {
        let reason: String
    }

    /// Starts a round for an advice that the policy allows.
    private func startRound(
        _ advice: Advice, _ response: HeldResponse, in exchange: AdvisedExchange, _ context: FilterContext
    ) throws(NoStepUp) -> Round {
        let realm: String
        switch policy.judgement(of: advice, in: exchange) {
        case .stepUp(let found): realm = found
        case .refused(let reason): throw NoStepUp(reason: reason)
        }
        if let refusal = rounds.refusal(of: advice) { throw NoStepUp(reason: refusal) }
        guard let session = replay?.session ?? session(context) else {
            throw NoStepUp(reason: SessionSource.absence(in: context.request, policy))
        }
        let replay =
            replay ?? Replay(policy: policy, resource: resource, session: session, idToken: context.idToken(policy))
        if let obstacle = replay.obstacle(to: advice, context.request, body: context.body) {
            throw NoStepUp(reason: obstacle)
        }
        self.replay = replay
        rounds.begin(advice)
        return Round(
            advice, response,
            StepUp(policy: policy, advice: advice, session: session, realm: realm, app: context.request))
    }

    private func session(_ context: FilterContext) -> SessionSource? {
        let found = SessionSource.find(in: context.sent, body: context.body, policy: policy)
        guard let shown = provided?.source, let token = found?.token, shown.isSame(as: token) else { return found }
        return shown
    }

    // MARK: the login

    /// Uses an upgrade that another exchange has made or is making, or makes it.
    private func share(_ round: Round, _ context: inout FilterContext) -> FilterAction {
        switch sharing.decide(
            round.machine, client: owner(context), mark: mark(context), context.sessions?.upgrades, &context)
        {
        case .go:
            guard policy.asksPerson else { return beginLogin(round, .begin, &context) }
            // a login that asks a person takes its turn only when AM gets answers
            if let pause = pause(round, context) { return giveUp(pause, round.original, &context) }
            return start(round, .begin, &context)
        case .wait(let ticket, let time):
            stage = .sharing(round)
            return .waitFor(ticket, until: min(time, limit ?? .max))
        case .has(let outcome): return succeed(outcome, round, &context)
        case .failed(let reason): return giveUp(.stepUpFailed(reason), round.original, &context)
        }
    }

    /// Begins the login, queues it, or gives it up if AM refused its answers recently.
    private func beginLogin(_ round: Round, _ next: NextStep, _ context: inout FilterContext) -> FilterAction {
        if let logins = context.logins {
            let attempt = login.flatMap { $0.isOver ? nil : $0 } ?? LoginAttempt(logins, policy.lockout)
            login = attempt
            let obstacle: LogEvent
            switch attempt.ask(round.machine.login) {
            case .go: return start(round, next, &context)
            case .wait(let ticket):
                stage = .queueing(round, next)
                return .waitFor(ticket, until: limit ?? .max)
            case .held(let refusals, let milliseconds): obstacle = Self.heldOff(refusals, milliseconds)
            case .full: obstacle = .stepUpFailed("there is no room for more logins")
            }
            // AM, and a person as well, may have gone on with it
            attempt.judge(.unjudged)
            return giveUp(obstacle, round.original, &context)
        }
        return start(round, next, &context)
    }

    private static func heldOff(_ refusals: Int, _ milliseconds: Int) -> LogEvent {
        .heldOff(refusals: refusals, seconds: (milliseconds + 999) / 1000)
    }

    /// The pause after AM refused the answers recently; nil if there is none. It takes no turn.
    func pause(_ round: Round, _ context: FilterContext) -> LogEvent? {
        guard case .held(let refusals, let milliseconds)? = context.logins?.pause(round.machine.login, policy.lockout)
        else { return nil }
        return Self.heldOff(refusals, milliseconds)
    }

    private func start(_ round: Round, _ next: NextStep, _ context: inout FilterContext) -> FilterAction {
        let order: StepUp.Command
        switch next {
        case .begin: order = round.machine.begin(context.circumstances)
        case .send(let call): return send(call, round, context)
        case .answer: order = round.machine.woke(context.circumstances)
        }
        return perform(order, round, &context)
    }

    private func send(_ call: ServerCall, _ round: Round, _ context: FilterContext) -> FilterAction {
        stage = .talking(round)
        return .call(
            FilterCall(
                call, to: .server(policy.server), maxResponseBytes: policy.maxResponseBytes,
                keptBytes: context.body.count + round.original.body.count, login: login,
                detachedCall: detachedCall(of: round, context)
            ) { .call(call.action, number: call.number, url: $0) })
    }

    /// Judges the login when the replay gets another advice.
    private func judgeLogin(by advice: Advice, _ context: inout FilterContext) {
        guard let login, login.isGranted else { return }
        if advice.isTransaction {
            context.note(.notApproved(ResponseFault.wrongAnswers))
        }
        login.judge(advice.isTransaction ? .refused : .unjudged)
        self.login = nil
    }

    // MARK: the conversation

    private func answered(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction? {
        guard case .talking(let round) = stage else { return nil }
        let order = round.machine.answered(
            status: response.head.status, fields: response.head.fields, body: response.body,
            context.circumstances)
        return perform(order, round, &context)
    }

    private func woke(_ context: inout FilterContext) -> FilterAction? {
        if let limit, context.now >= limit {
            guard case .asking(let round, let step, let place) = stage else {
                return failed("it took longer than authorization.hold allows", &context)
            }
            // a person may have answered in time while the loop was late
            guard place.look() == nil else {
                self.limit = context.now + timeForAM
                return look(round, step, place, &context)
            }
            return failed("nobody answered within authorization.hold", &context)
        }
        switch stage {
        case .sharing(let round): return share(round, &context)
        case .queueing(let round, let next): return beginLogin(round, next, &context)
        case .asking(let round, let step, let place): return look(round, step, place, &context)
        case .talking(let round):
            let order = round.machine.woke(context.circumstances)
            return perform(order, round, &context)
        case .watching, .replaying: return nil
        }
    }

    func perform(_ order: StepUp.Command, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        for sentence in round.machine.takeNotes() { context.note(.conversation(sentence)) }
        stage = .talking(round)
        switch order {
        case .send(let call):
            return call.carriesAnswers && needsTurn
                ? beginLogin(round, .send(call), &context) : send(call, round, context)
        case .wait where round.machine.isAtTurn:
            return needsTurn
                ? beginLogin(round, .answer, &context) : start(round, .answer, &context)
        case .wait(let milliseconds): return .wait(until: bounded(context.now + milliseconds))
        case .ask(let step): return ask(step, round, &context)
        case .succeeded(let outcome):
            if let session = replay?.session.token { sharing.won(outcome, of: session, context.time) }
            return succeed(outcome, round, &context)
        case .failed(let failure):
            if failure.isTransient { sharing.leave() } else { sharing.fail(failure.reason, context.time) }
            login?.judge(failure.doubtsAnswers ? .refused : .unjudged)
            if failure.code == .transactionUnreadable, rounds.askAgain(after: round.advice) {
                context.note(.askedAgain(failure.reason))
                forgetLogin()
                return sendAgain(round.original, &context)
            }
            return giveUp(.stepUpFailed(failure.reason), round.original, &context)
        }
    }

    private func succeed(_ outcome: StepUp.Outcome, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        succession(context)?.take(outcome)
        replay?.absorb(round.advice, outcome)
        grant(round.advice)
        return sendAgain(round.original, &context)
    }

    /// The client whose upgrades this one shares; empty for a session of Usher, which all clients share.
    func owner(_ context: FilterContext) -> String {
        provided?.isShared == true || replay.map { isShared($0.session) } == true ? "" : "client \(context.client.text)"
    }

    /// With a person, a login takes a turn for AM's first answers, and another after the person has answered.
    private var needsTurn: Bool { policy.asksPerson && login?.needsTurn ?? true }

    /// Notes that AM reports success.
    private func grant(_ advice: Advice) {
        login?.grant(by: advice)
        forgetLogin()
    }

    /// Drops the login unless the replay is to judge it.
    private func forgetLogin() {
        if login?.isGranted != true { login = nil }
    }

    private func bounded(_ time: Int) -> Int { min(time, limit ?? .max) }

    // MARK: the replay

    /// Sends the client's request again with the results of all rounds so far.
    private func sendAgain(_ original: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        do throws(Replay.Refusal) {
            guard let again = try replay?.request(context.request, body: context.body) else {
                return .giveBack(original)
            }
            cookieLines = replay?.cookiesForClient(context.request) ?? []
            stage = .replaying(original)
            return .attempt(again.head, body: again.body)
        } catch {
            return giveUp(.notReplayed(error.reason), original, &context)
        }
    }

    private func failed(_ reason: String, _ context: inout FilterContext) -> FilterAction? {
        // a replay may have had an effect that must not happen twice: the client gets its error
        guard let original, isActive || !context.mayHaveArrived || context.request.method.isIdempotent else {
            return nil
        }
        return giveUp(.stepUpFailed(reason), original, &context)
    }

    func giveUp(_ event: LogEvent, _ original: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        context.note(event)
        stage = .watching
        login = nil
        sharing.leave()
        // an earlier round may have replaced the session, so the client still gets the new one
        cookieLines = replay?.cookiesForClient(context.request) ?? []
        return .giveBack(original)
    }
}

extension StepUpFilter {
    static let registration = FilterRegistration(.head, where: { !$0.authorization.isEmpty }) { setup in
        guard let covered = setup.covered else { return }
        let (policy, resource, request) = (covered.policy, covered.resource, setup.request)
        switch covered.manner(request) {
        case .enforce, .translate: return
        case .leave: return setup.notes.append(.leftToClient)
        case .stepUp: break
        }
        let canReplay = policy.refusalToReplay(request, resource, bodyComplete: true) == nil
        setup.add(
            StepUpFilter(policy: policy, resource: resource, provided: covered.provided(for: request)),
            keeping: canReplay ? policy.maxBodyBytes : 0)
    }
}
