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
    /// The response that carried the advice: the client gets it when the step-up fails.
    var original: HeldResponse?
    /// The session that the latest round used, where an upgrade replaced the client's own.
    var holdUntil: Int?
    /// The classification of the client's request, put aside while calls to AM are classified.
    var putAside: Classification?
    /// Requests for another id after AM did not know the last one.
    var reasked = false

    init(policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource) {
        self.policy = policy
        self.resource = resource
        rounds = Rounds(policy: policy)
    }

    var isActive: Bool { machine != nil }
    var mayAct: Bool { machine == nil }
}

/// Advice, the conversation with AM, the replay. Whatever goes wrong, the client gets the answer that it would have got.
extension Session {
    /// A held response is here whole: is it an advice, and may Usher act on it?
    mutating func considerAdvice(_ response: HeldResponse, _ out: inout Outbox) {
        guard var state = stepUp,
            let advice = AdviceReader.read(
                status: response.head.status, fields: response.head.fields, body: response.body)
        else { return deliverHeld(response, &out) }
        note(.advice, "\(response.head.status) with \(advice.summary)")
        do {
            try state.admit(advice, request: request, bodyKept: bodyKept)
            let session = try state.session(of: outgoing ?? request, body: outgoingBody ?? body)
            var machine = try StepUp(policy: state.policy, advice: advice, session: session)
            let order = machine.begin()
            state.machine = machine
            state.advice = advice
            state.original = response
            state.putAside = classification
            if state.holdUntil == nil { state.holdUntil = now + state.policy.hold }
            stepUp = state
            perform(order, &out)
        } catch {
            note(.note, "no step-up: \(error.reason)")
            deliverHeld(response, &out)
        }
    }

    private mutating func perform(_ order: StepUp.Order, _ out: inout Outbox) {
        switch order {
        case .send(let call): send(call, &out)
        case .wait(let milliseconds):
            phase = .waiting
            deadline = bounded(now + milliseconds)
        case .succeeded(let outcome): replay(outcome, &out)
        case .failed(let failure):
            if failure.asksForAnotherID, stepUp?.reasked == false {
                note(.note, "\(failure.reason); the resource is asked once more")
                stepUp?.reasked = true
                endConversation()
                outgoing = nil
                outgoingBody = nil
                return attempt(&out)
            }
            stepUpFailed(failure.reason, &out)
        }
    }

    /// A call to AM goes through the interceptors with an Action of its own, but never through the step-up.
    private mutating func send(_ call: ServerCall, _ out: inout Outbox) {
        phase = .exchanging
        var head = call.head
        let step = engine.classifier.begin(head)
        switch step {
        case .none: classification = nil
        case .done(let found): classification = found
        case .needsBody:
            classification = engine.classifier.finish(head, step, body: call.body, complete: true, flows: flows)
        }
        note(.action, "\(classification?.action?.rawValue ?? "no action"): \(call.description)")
        if let first = engine.plan.firstRequestMatch(head, classification) {
            var changes: [String] = []
            let verdict = engine.plan.applyRequest(from: first, to: &head, classification, changes: &changes)
            for change in changes { note(.interceptor, change) }
            switch verdict {
            case .proceed: break
            case .respond(let local, let interceptor):
                return serverAnswered(HeldResponse(local, interceptor), &out)
            case .abort(let interceptor, let reason):
                stepUpFailed("interceptor \(interceptor) aborted the call to AM: \(reason)", &out)
                return
            }
        }
        // the session is in this request: it goes to the configured server and nowhere else
        guard let server = stepUp?.policy.server, head.host == server.host else {
            stepUpFailed("the call to AM was directed to \(head.host), which is not the configured AM", &out)
            return
        }
        outgoing = head
        outgoingBody = call.body
        lease(.serverCall, &out)
    }

    mutating func serverAnswered(_ response: HeldResponse, _ out: inout Outbox) {
        var head = response.head
        if let sent = outgoing, let first = engine.plan.firstResponseMatch(head, request: sent, classification) {
            var changes: [String] = []
            let verdict = engine.plan.applyResponse(
                from: first, to: &head, request: sent, classification, changes: &changes)
            for change in changes { note(.interceptor, change) }
            if case .abort(let interceptor, let reason) = verdict {
                stepUpFailed("interceptor \(interceptor) aborted AM's answer: \(reason)", &out)
                return
            }
        }
        if let flows, let payload = classification?.payload, let authId = Classifier.authId(in: response.body) {
            flows.remember(authId: authId, payload: payload)
        }
        guard var machine = stepUp?.machine else { return abandon(reset: true, &out) }
        let order = machine.answered(status: head.status, fields: head.fields, body: response.body)
        note(.authenticate, "AM answered \(head.status): \(machine.lastAnswer)")
        stepUp?.machine = machine
        perform(order, &out)
    }

    private mutating func replay(_ outcome: StepUp.Outcome, _ out: inout Outbox) {
        guard let state = stepUp, let advice = state.advice else { return abandon(reset: true, &out) }
        do {
            let again = try Replay.request(
                from: request, body: body, advice: advice, outcome: outcome, policy: state.policy,
                resource: state.resource)
            note(.replay, again.description)
            cookieLines.append(contentsOf: outcome.setCookieLines)
            endConversation()
            phase = .exchanging
            outgoing = again.head
            outgoingBody = again.body
            attempt(&out)
        } catch {
            stepUpFailed(error.reason, &out)
        }
    }

    /// The conversation with AM is over; the client's own request is what the exchange is about again.
    private mutating func endConversation() {
        classification = stepUp?.putAside
        stepUp?.putAside = nil
        stepUp?.machine = nil
        stepUp?.original = nil
    }

    /// Ends a step-up without success: the client gets the answer that carried the advice. False when none is under way.
    @discardableResult
    mutating func stepUpFailed(_ reason: String, _ out: inout Outbox) -> Bool {
        guard let original = stepUp?.original, stepUp?.isActive == true else { return false }
        note(.note, "the step-up failed: \(reason); the original answer was delivered")
        endConversation()
        held = nil
        cookieLines = []
        outgoing = nil
        outgoingBody = nil
        phase = .exchanging
        origin.sink = .client
        deliverHeld(original, &out)
        return true
    }

    /// Time has passed in a step-up. False when the ordinary timeouts apply.
    mutating func stepUpWoke(_ out: inout Outbox) -> Bool {
        guard let state = stepUp, state.isActive else { return false }
        if let limit = state.holdUntil, now >= limit {
            if origin.state != .idle { releaseOrigin(reusable: false, &out) }
            return stepUpFailed("it took longer than authorization.hold allows", &out)
        }
        guard phase == .waiting, var machine = state.machine else { return false }
        let order = machine.woke()
        stepUp?.machine = machine
        perform(order, &out)
        return true
    }
}

extension HeldResponse {
    /// What an interceptor answered in AM's place.
    init(_ local: LocalAnswer, _ interceptor: String) {
        head = ResponseHead(status: local.status, reason: String(describing: Reason.phrase(local.status)))
        for header in local.headers { head.fields.add(header.name, header.value) }
        body = local.body
        reason = .advice
        limit = local.body.count
    }
}
