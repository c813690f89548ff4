import Addresses
import Authorization
import HTTPCodec
import Interception

/// Sends a request only if AM allows it: the enforcement point of a resource without a Gateway. An advice of the decision leads
/// to a step-up. The request stays here unless a decision allows it.
final class EnforcementFilter: Filter {
    private enum Stage {
        case watching
        /// The most exchanges already ask AM.
        case queueing
        /// The session to ask with is being obtained.
        case loggingIn
        case asking
        /// The step-up for a decision's advice is under way.
        case steppingUp
        /// AM no longer knows the session, and another request is upgrading it. The filter waits for its successor until this
        /// time.
        case following(String, WaitingPlace<SharedUpgrade>, until: Int)
        /// AM allows this request to go out, once.
        case granted(RequestHead)
    }

    /// The question to AM.
    private struct Inquiry {
        var question: PolicyQuestion
        var key: PolicyDecisions.Key?
        /// The generation of the kept decisions when it was asked.
        var generation = 0
        /// A step-up changed the question: it is asked again, and no kept decision counts.
        var isRepeated = false
    }

    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    /// The form of the advice for a client that steps up by itself.
    private let form: Advice.Source?
    let agent: AgentSession
    let stepUp: StepUpFilter
    /// The session that Usher adds if the request carries none.
    private let provided: ProvidedSession?
    private var stage = Stage.watching
    private var inquiry: Inquiry?
    private(set) var place: AskingPlace?
    private var questions = 0
    private var limit: Int?
    private(set) var cookieLines: [String] = []

    /// The most questions of one exchange. Each round of a step-up asks again, and so does a new session.
    private static let mostQuestions = 16

    init(
        _ policy: AuthorizationPolicy, _ resource: AuthorizationPolicy.Resource, form: Advice.Source?,
        _ provided: ProvidedSession? = nil
    ) {
        self.provided = provided
        self.policy = policy
        self.resource = resource
        self.form = form
        agent = AgentSession(policy.enforcement ?? Enforcement(), policy)
        stepUp = StepUpFilter(
            policy: policy,
            resource: AuthorizationPolicy.Resource(url: resource.url, advice: .body, trees: resource.trees),
            isShared: { provided?.own?.value.session.source.isSame(as: $0.token) == true })
    }

    var enforcement: Enforcement { policy.enforcement ?? Enforcement() }

    var hold: FilterHold? {
        switch stage {
        case .watching, .granted: return nil
        case .queueing, .loggingIn, .asking, .steppingUp, .following: break
        }
        let inner = stepUp.hold
        return FilterHold(
            isActive: true, bytes: inner?.bytes ?? 0, limit: limit, endsWithClient: inner?.endsWithClient == true)
    }

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .ready:
            if case .granted(let head) = stage, Self.isSame(head, context.sent) { break }
            return start(&context)
        case .leaving: leave(with: &head)
        }
        return .proceed
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        switch event {
        case .answered(let response): called(response, &context)
        case .failed(let reason): failed(reason, &context)
        case .woke: woke(&context)
        }
    }

    func end(_ end: FilterEnd) {
        guard case .decided = end else { return }
        stepUp.end(.decided)
        rest()
    }

    // MARK: before the request goes out

    private func leave(with head: inout RequestHead) {
        // a grant holds for one sending
        stage = .watching
        guard let won = stepUp.replay, let changed = try? won.inSession(head) else { return }
        head = changed
    }

    private static func isSame(_ one: RequestHead, _ other: RequestHead) -> Bool {
        one.methodText == other.methodText && one.url == other.url
    }

    private var session: SessionSource? { stepUp.replay?.session }

    private func start(_ context: inout FilterContext) -> FilterAction {
        if limit == nil { limit = context.now + policy.hold }
        guard !SessionSource.isAmbiguous(in: context.sent, named: policy.server.cookie) else {
            return refuse(
                "it names several sessions, or one that may be read in several ways, and AM would decide for one of them "
                    + "alone (\(policy.server.cookie))")
        }
        if let refusal = refusalOfHiddenMethod(context) { return refusal }
        guard
            // the head as it will leave: the step-up's session replaces the request's
            let user = SessionSource.find(
                in: (try? stepUp.replay?.inSession(context.sent)) ?? context.sent, body: nil, policy: policy)
                ?? provided?.source
        else {
            let refusal = context.refusal(listed: policy.origins)
            if provided != nil, refusal == nil, context.decisions?.isDry == true {
                context.note(.decision("AM is asked first, with that session"))
                return grant(context)
            }
            return deny(SessionSource.absence(in: context.sent, policy))
        }
        guard let store = context.decisions else { return unavailable("there is no table of decisions") }
        let asked: PolicyQuestion
        do throws(PolicyQuestion.Refusal) {
            asked = try question(user, caller: nil, context)
        } catch {
            return refuse(error.reason)
        }
        if store.isDry {
            context.note(
                .decision(
                    "AM is asked first whether \(asked.method) is allowed on \(asked.resource), in the policy set "
                        + "\(enforcement.application); the request goes out where it is"))
            return grant(context)
        }
        let key = self.key(asked, user, store)
        inquiry = Inquiry(question: asked, key: key, generation: store.change { $0.generation })
        if let known = known(&context) { return known }
        return proceed(agent.ask(user, &context), user, &context)
    }

    /// Acts on a kept decision; nil if there is none.
    private func known(_ context: inout FilterContext) -> FilterAction? {
        guard let inquiry, let key = inquiry.key,
            let allows = context.decisions?.change({ $0.allows(key, now: context.now, maxAge: enforcement.maxAge) })
        else { return nil }
        let method = inquiry.question.method
        context.note(.decision("AM has decided on this lately: \(method) is \(allows ? "" : "not ")allowed"))
        return allows ? grant(context) : deny("AM does not allow \(method)")
    }

    /// - Parameter caller: nil if only the subject of the question matters.
    private func question(
        _ user: SessionSource, caller: SessionSource?, _ context: FilterContext
    ) throws(PolicyQuestion.Refusal) -> PolicyQuestion {
        try PolicyQuestion(
            about: context.sent, as: user, caller: caller,
            transaction: form == nil ? nil : ShownTransaction(in: context.sent, as: policy.presentations)?.id,
            address: context.client.address?.description, policy, enforcement)
    }

    /// Nil if the decision must be neither reused nor kept.
    private func key(
        _ question: PolicyQuestion, _ user: SessionSource, _ store: any DecisionStore
    ) -> PolicyDecisions.Key? {
        guard enforcement.maxAge > 0, !question.showsTransaction, let session = store.digest(Array(user.token.utf8)),
            let digest = store.digest(question.bytes)
        else { return nil }
        return PolicyDecisions.Key(session: session, question: digest)
    }

    // MARK: asking

    private func proceed(
        _ order: AgentSession.Command, _ user: SessionSource, _ context: inout FilterContext
    ) -> FilterAction {
        switch order {
        case .use(let caller):
            if inquiry?.isRepeated == true {
                inquiry.change { $0.question.ask(as: caller, policy.server) }
                return ask(&context)
            }
            do throws(PolicyQuestion.Refusal) {
                let question = try question(user, caller: caller, context)
                inquiry.change { $0.question = question }
            } catch {
                return refuse(error.reason)
            }
            return ask(&context)
        case .call(let call):
            stage = .loggingIn
            return .call(call)
        case .waitFor(let ticket, let time):
            stage = .loggingIn
            return .waitFor(ticket, until: min(time, limit ?? .max))
        case .failed(let reason):
            return unavailable("Usher has no session to ask with: \(reason)")
        }
    }

    private func ask(_ context: inout FilterContext) -> FilterAction {
        guard let inquiry, let store = context.decisions else {
            return unavailable("nothing was to be asked")
        }
        let place = place ?? AskingPlace(store, for: context.share.hashValue, most: enforcement.concurrency)
        self.place = place
        guard place.take() else {
            guard let ticket = place.ticket else {
                return unavailable("there is no room for more requests that wait to ask AM")
            }
            stage = .queueing
            return .waitFor(ticket, until: limit ?? .max)
        }
        questions += 1
        guard questions <= Self.mostQuestions else {
            return unavailable("AM was asked \(Self.mostQuestions) times without an end")
        }
        stage = .asking
        return .call(
            FilterCall(
                inquiry.question.call, to: .server(policy.server), maxResponseBytes: AdviceReader.maxBody,
                keptBytes: context.body.count
            ) { [action = inquiry.question.call.action, questions] in .question(action, number: questions, url: $0) })
    }

    private func called(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard let asked = inquiry?.question else { return unavailable("nothing was asked") }
        switch stage {
        case .loggingIn:
            return proceed(agent.called(response, &context), asked.subject, &context)
        case .asking: return answered(response, &context)
        case .steppingUp:
            return carryOn(asStepUp(&context) { stepUp.event(.answered(response), &$0) }, &context)
        case .watching, .queueing, .following, .granted: return unavailable("nothing was asked")
        }
    }

    /// Runs the step-up with the question to AM as its request.
    private func asStepUp(
        _ context: inout FilterContext, _ ask: (inout FilterContext) -> FilterAction?
    ) -> FilterAction? {
        guard let asked = inquiry?.question else { return nil }
        var inner = context.about(asked.head, asked.body)
        defer { context.notes = inner.notes }
        return ask(&inner)
    }

    private func answered(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        guard let inquiry else { return unavailable("nothing was asked") }
        // a step-up may take its time
        place = nil
        var head = response.head
        _ = asStepUp(&context) { stepUp.response(.head, &head, &$0) }
        let answer: PolicyAnswer
        do throws(PolicyAnswer.Fault) {
            answer = try PolicyAnswer(response.head, response.body, to: inquiry.question)
        } catch {
            switch error.kind {
            case .caller, .privilege:
                if enforcement.caller == .app { return deny(error.reason) }
                if error.kind == .caller, let order = agent.renew(&context) {
                    return proceed(order, inquiry.question.subject, &context)
                }
                return unavailable(error.reason)
            case .question:
                // a session of Usher may end unnoticed
                if let provided, provided.source?.token == inquiry.question.subject.token, provided.refuse() {
                    rest()
                    return .proceed
                }
                return follow(error.reason, until: context.now + Self.upgradeEnd, &context)
            case .unusable: return unusable(error.reason)
            }
        }
        keep(answer, inquiry, context)
        if answer.allows {
            context.note(.decision("AM allows \(inquiry.question.method) on \(inquiry.question.resource)"))
            stepUp.end(.delivered(status: 200))
            return grant(context)
        }
        guard answer.isAdvised else {
            stepUp.end(.delivered(status: 403))
            return deny("AM does not allow \(inquiry.question.method) on \(inquiry.question.resource)")
        }
        if let form, context.initiator.refusal(listed: policy.origins) == nil {
            return handOver(response, as: form, &context)
        }
        return carryOn(asStepUp(&context) { stepUp.consider(response, &$0) }, &context)
    }

    /// AM no longer knows the session. If another request of this client upgrades or has just upgraded it, AM is asked with the
    /// successor.
    private func follow(_ reason: String, until time: Int, _ context: inout FilterContext) -> FilterAction {
        guard let old = inquiry?.question.subject else { return deny(reason) }
        // the place comes first: an upgrade that ends in between is found
        let place = stepUp.placeToFollow(old, context)
        if stepUp.follows(old, context) {
            context.note(.decision("this session was upgraded a moment ago; AM is asked with the one in its place"))
            takeSession(context)
            rest()
            return start(&context)
        }
        guard context.now < time, let place else { return deny(reason) }
        stage = .following(reason, place, until: time)
        return .waitFor(place.ticket, until: min(time, limit ?? .max))
    }

    /// Milliseconds for which a session's successor may be unknown after AM replaced the session.
    private static let upgradeEnd = 1_000

    /// Acts on the step-up's decision.
    private func carryOn(_ action: FilterAction?, _ context: inout FilterContext) -> FilterAction {
        guard let action else { return beyond(context) }
        switch action {
        case .call, .wait, .waitFor:
            stage = .steppingUp
            return action
        case .attempt(let head, let body):
            takeSession(context)
            inquiry.change {
                $0.question.repeated(as: head, body)
                $0.isRepeated = true
                // the session may have changed, and a transaction's grant must not be kept
                $0.key = nil
            }
            return ask(&context)
        case .deliver, .giveBack, .again, .replace, .proceed, .refuse, .hold: return beyond(context)
        }
    }

    /// Uses the session that the step-up obtained.
    private func takeSession(_ context: FilterContext) {
        guard let replay = stepUp.replay else { return }
        if let provided, provided.source?.token == inquiry?.question.subject.token {
            provided.upgrade(
                to: StepUp.Outcome(session: replay.session.token, affinity: replay.session.affinity), context.sessions)
        } else {
            cookieLines = replay.cookiesForClient(context.request)
        }
    }

    private func keep(_ answer: PolicyAnswer, _ inquiry: Inquiry, _ context: FilterContext) {
        guard let key = inquiry.key, let store = context.decisions, let expires = answer.expires else { return }
        // calendar time has whole seconds: the decision ends rather too early than too late
        let left = expires / 1000 - context.seconds - 1
        guard left > 0 else { return }
        let until = context.now + min(left * 1000, enforcement.maxAge)
        let client = context.share.hashValue
        store.change {
            $0.keep(
                key, allows: answer.allows, until: until, for: client, asked: inquiry.generation, now: context.now)
        }
    }

    // MARK: time and faults

    private func woke(_ context: inout FilterContext) -> FilterAction? {
        guard hold != nil else { return nil }
        if let limit, context.now >= limit {
            return failed("it took longer than authorization.hold allows", &context)
        }
        switch stage {
        case .watching, .granted: return nil
        case .queueing:
            if let known = known(&context) { return known }
            return ask(&context)
        case .loggingIn:
            guard let user = inquiry?.question.subject else { return nil }
            return agent.woke(&context).map { proceed($0, user, &context) }
        case .asking: return nil
        case .following(let reason, _, let time): return follow(reason, until: time, &context)
        case .steppingUp:
            guard let action = asStepUp(&context, { stepUp.event(.woke, &$0) }) else { return nil }
            return carryOn(action, &context)
        }
    }

    private func failed(_ reason: String, _ context: inout FilterContext) -> FilterAction? {
        switch stage {
        case .watching, .granted: return nil
        case .queueing:
            return unavailable("AM is asked as much as enforce.concurrency allows: \(reason)")
        case .loggingIn:
            guard let user = inquiry?.question.subject else { return nil }
            return proceed(agent.failed(reason, &context), user, &context)
        case .asking: return unavailable("AM could not be asked: \(reason)")
        case .following(let reason, _, _): return deny(reason)
        case .steppingUp:
            guard inquiry != nil else { return nil }
            _ = asStepUp(&context) { stepUp.event(.failed(reason), &$0) }
            return beyond(context)
        }
    }

    func rest() {
        stage = .watching
        agent.rest()
        place = nil
        inquiry = nil
        limit = nil
    }

    // MARK: the grant

    private func grant(_ context: FilterContext) -> FilterAction {
        let head = context.sent
        rest()
        stage = .granted(head)
        return .proceed
    }
}

extension EnforcementFilter {
    static let registration = FilterRegistration(.head, where: { !$0.authorization.isEmpty }) { setup in
        guard let covered = setup.covered, case .enforce = covered.manner(setup.request) else { return }
        let (policy, resource) = (covered.policy, covered.resource)
        let form = resource.translation ?? (policy.clientHandlesAdvice(setup.request) ? .header : nil)
        setup.enforce(policy)
        // nothing goes out before AM's decision, so no body is kept to repeat; a body that may be a form is kept to search it
        setup.add(
            EnforcementFilter(policy, resource, form: form, covered.provided(for: setup.request)),
            keeping: HiddenRequest.isSearched(setup.request) ? policy.maxBodyBytes : 0)
    }
}
