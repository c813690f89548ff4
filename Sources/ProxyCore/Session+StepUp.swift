import Authorization
import HTTPCodec
import Interception

/// The part of an exchange that belongs to transactional authorization.
struct StepUpState {
    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    var rounds: Rounds
    /// The machine that talks to AM, while it does.
    var machine: StepUp?
    var advice: Advice?
    /// The response that carried the advice: the client gets it when the step-up fails. Kept until the head of the
    /// replay's answer is here.
    var original: HeldResponse?
    /// What earlier rounds have won; nil before the first.
    var replay: Replay?
    /// When the whole of it must be over.
    var holdUntil: Int?
    /// The login that is under way, or whose answers the replay will judge.
    var attempt: LoginAttempt?
    /// The machine has begun; it may have had to wait for other logins.
    var hasBegun = false
    /// The classification of the client's request, put aside while calls to AM are classified.
    var putAside: Classification?

    init(policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource) {
        self.policy = policy
        self.resource = resource
        rounds = Rounds(policy)
    }

    var isActive: Bool { machine != nil }

    /// Whether a response with this head has to be held until it is clear that it is no advice, and how much of it.
    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        if isActive { return nil }
        let reader = reader(request, sent: sent)
        if reader.read(status: response.status, fields: response.fields, body: nil) != nil {
            return policy.maxAnswerBytes
        }
        guard reader.needsBody(status: response.status, fields: response.fields) else { return nil }
        return min(policy.maxAnswerBytes, AdviceReader.maxBody)
    }

    func reader(_ request: RequestHead, sent: RequestHead) -> AdviceReader {
        AdviceReader(policy.forms(for: request, sent: sent, resource))
    }
}

/// Advice, the conversation with AM, the replay. Whatever goes wrong, the client gets the answer that it would have got.
extension Session {
    /// A held response is here whole: is it an advice, and may Usher act on it?
    mutating func considerAdvice(_ response: HeldResponse, _ out: inout Outbox) {
        guard var state = stepUp,
            let advice = state.reader(request, sent: outgoing ?? request).read(
                status: response.head.status, fields: response.head.fields, body: response.body)
        else { return deliverHeld(response, &out) }
        let exchange = AdvisedExchange(
            request: request, sent: outgoing ?? request, body: body, bodyComplete: bodyKept, resource: state.resource,
            status: response.head.status)
        if let doubt = state.policy.doubt(of: advice, in: exchange) {
            note(.note, "no advice: \(doubt)")
            return deliverHeld(response, &out)
        }
        note(.advice, "\(response.head.status) from \(request.host) asks for \(advice.summary)")
        judgeLogin(by: advice)
        let realm: String
        switch state.policy.judgement(of: advice, in: exchange) {
        case .stepUp(let found): realm = found
        case .refused(let reason):
            note(.note, "no step-up: \(reason)")
            return deliverHeld(response, &out)
        }
        if let refusal = state.rounds.refusal(of: advice) {
            note(.note, "no step-up: \(refusal)")
            return deliverHeld(response, &out)
        }
        guard
            let session = state.replay?.session
                ?? SessionSource.find(in: outgoing ?? request, body: body, policy: state.policy)
        else {
            note(.note, "no step-up: the request carries no session (cookie or header \(state.policy.server.cookie))")
            return deliverHeld(response, &out)
        }
        let replay = state.replay ?? Replay(policy: state.policy, resource: state.resource, session: session)
        if let obstacle = replay.obstacle(to: advice, request, body: body) {
            note(.note, "no step-up: \(obstacle)")
            return deliverHeld(response, &out)
        }
        state.replay = replay
        state.rounds.begin(advice)
        let machine = StepUp(policy: state.policy, advice: advice, session: session, realm: realm, app: request)
        state.machine = machine
        state.attempt = nil
        state.hasBegun = false
        state.advice = advice
        state.original = response
        state.putAside = classification
        if state.holdUntil == nil { state.holdUntil = now + state.policy.hold }
        stepUp = state
        beginLogin(&out)
    }

    /// What the machine noted, into the record.
    mutating func tellStory() {
        guard var machine = stepUp?.machine else { return }
        for sentence in machine.takeStory() { note(.authenticate, sentence) }
        stepUp.change { $0.machine = machine }
    }

    mutating func perform(_ order: StepUp.Order, _ out: inout Outbox) {
        switch order {
        case .send(let call): send(call, &out)
        case .wait(let milliseconds):
            phase = .waiting
            deadline = bounded(now + milliseconds)
        case .succeeded(let outcome): replay(outcome, &out)
        case .failed(let failure):
            judgeLogin(failure)
            if failure.code == .transactionUnreadable, let advice = stepUp?.advice,
                stepUp?.rounds.askAgain(after: advice) == true
            {
                note(.note, "\(failure.reason); the resource is asked once more")
                endConversation()
                return sendAgain(&out)
            }
            stepUpFailed(failure.reason, &out)
        }
    }

    /// A call to AM goes through the interceptors with an Action of its own, but never through the step-up.
    private mutating func send(_ call: ServerCall, _ out: inout Outbox) {
        phase = .exchanging
        var head = call.head
        // the classifier, and rules, look at the head alone to see whether there is a body
        head.fields.set("Content-Length", String(call.body.count))
        let step = engine.classifier.begin(head)
        switch step {
        case .none: classification = nil
        case .done(let found): classification = found
        case .needsBody(let endpoint):
            classification = engine.classifier.finish(head, endpoint, body: call.body, complete: true, flows: flows)
        }
        // the machine knows better than an authId that may tell nothing
        classification.change { $0.payload = call.payload }
        note(
            .action, "\(call.action.rawValue): call \(call.number) of the step-up to \(engine.redaction.url(of: head))")
        switch intercept(&head) {
        case .proceed: break
        case .respond(let local, _): return advance(HeldResponse(local), &out)
        case .abort(let interceptor, let reason):
            stepUpFailed("interceptor \(interceptor) aborted the call to AM: \(reason)", &out)
            return
        }
        // the session is in this request: it goes to the configured server and nowhere else
        guard let server = stepUp?.policy.server else { return abandon(reset: true, &out) }
        if let refusal = server.refusal(of: head) {
            stepUpFailed(refusal, &out)
            return
        }
        if call.carriesAnswers { stepUp?.attempt?.tell() }
        outgoing = head
        outgoingBody = call.body
        // what AM does by a call it does not do twice, and an idle connection may have ended unseen (RFC 9110 §9.2.2)
        lease(.serverCall, .new, &out)
    }

    mutating func serverAnswered(_ response: HeldResponse, _ out: inout Outbox) {
        var response = response
        if let sent = outgoing {
            switch intercept(&response.head, to: sent) {
            case .proceed: break
            case .respond(let local, _): response = HeldResponse(local)
            case .abort(let interceptor, let reason):
                stepUpFailed("interceptor \(interceptor) aborted AM's answer: \(reason)", &out)
                return
            }
        }
        advance(response, &out)
    }

    /// Hands an answer, AM's or one in its place, to the machine.
    private mutating func advance(_ response: HeldResponse, _ out: inout Outbox) {
        if let flows, let payload = classification?.payload, let authId = Classifier.authId(in: response.body) {
            flows.remember(authId: authId, payload: payload)
        }
        guard var machine = stepUp?.machine else { return abandon(reset: true, &out) }
        let order = machine.answered(
            status: response.head.status, fields: response.head.fields, body: response.body)
        stepUp.change { $0.machine = machine }
        tellStory()
        perform(order, &out)
    }

    private mutating func replay(_ outcome: StepUp.Outcome, _ out: inout Outbox) {
        guard let advice = stepUp?.advice else { return abandon(reset: true, &out) }
        stepUp?.replay?.absorb(advice, outcome)
        loginGranted(advice)
        endConversation()
        sendAgain(&out)
    }

    /// Sends the request again, from what the client sent and what the step-ups so far have won.
    private mutating func sendAgain(_ out: inout Outbox) {
        phase = .exchanging
        cookieLines = stepUp?.replay?.cookiesForClient(request) ?? []
        do throws(Replay.Refusal) {
            guard let again = try stepUp?.replay?.request(request, body: body) else {
                return abandon(reset: true, &out)
            }
            let url = engine.redaction.url(of: again.head)
            note(.replay, "\(again.head.methodText) \(url) is sent again")
            outgoing = again.head
            outgoingBody = again.body
            attempt(&out)
        } catch {
            note(.note, "no replay: \(error.reason); the original answer was delivered")
            guard let original = stepUp?.original else { return abandon(reset: true, &out) }
            stepUp.change {
                $0.original = nil
                $0.attempt = nil
            }
            deliverHeld(original, &out)
        }
    }

    /// The conversation with AM is over; the client's own request is what the exchange is about again.
    private mutating func endConversation() {
        classification = stepUp?.putAside
        stepUp.change {
            $0.putAside = nil
            $0.machine = nil
            if $0.attempt?.isGranted != true { $0.attempt = nil }
        }
    }

    /// Ends a step-up without success: the client gets the answer that carried the advice. False when none is under way,
    /// or when the replay has gone out and may have done what must not be done twice: the client has to know of it.
    @discardableResult
    mutating func stepUpFailed(_ reason: String, _ out: inout Outbox) -> Bool {
        guard let state = stepUp, state.original != nil, state.isActive || !mayHaveReplayed else { return false }
        giveUp("the step-up failed: \(reason); the original answer was delivered", &out)
        return true
    }

    /// Delivers the answer that carried the advice.
    mutating func giveUp(_ words: String, _ out: inout Outbox) {
        guard let original = stepUp?.original else { return abandon(reset: true, &out) }
        if origin.state != .idle { releaseOrigin(reusable: false, &out) }
        note(.note, words)
        endConversation()
        stepUp.change {
            $0.original = nil
            $0.attempt = nil
        }
        held = nil
        // an earlier round may have replaced the session, and the client has to learn of it all the same
        cookieLines = stepUp?.replay?.cookiesForClient(request) ?? []
        outgoing = nil
        outgoingBody = nil
        phase = .exchanging
        origin.sink = .client
        deliverHeld(original, &out)
    }

    /// The replay is out, and sending it once more would not be the same as sending it once.
    private var mayHaveReplayed: Bool {
        origin.state != .leasing && origin.state != .idle && !request.method.isIdempotent
    }

    /// Time has passed in a step-up. False when the ordinary timeouts apply.
    mutating func stepUpWoke(_ out: inout Outbox) -> Bool {
        guard let state = stepUp, state.original != nil else { return false }
        if let limit = state.holdUntil, now >= limit {
            return stepUpFailed("it took longer than authorization.hold allows", &out)
        }
        guard phase == .waiting, var machine = state.machine else { return false }
        guard state.hasBegun else {
            beginLogin(&out)
            return true
        }
        let order = machine.woke()
        stepUp.change { $0.machine = machine }
        perform(order, &out)
        return true
    }
}

extension HeldResponse {
    /// What an interceptor answered in AM's place.
    init(_ local: LocalAnswer) {
        head = ResponseHead(status: local.status, reason: ReasonPhrase.of(local.status))
        for header in local.headers { head.fields.add(header.name, header.value) }
        body = local.body
        reason = .advice
        limit = local.body.count
    }
}
