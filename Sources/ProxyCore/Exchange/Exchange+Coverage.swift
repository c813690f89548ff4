import Authorization
import Interception

/// What `authorization` means for a request: who acts on advice, and whether AM is asked first.
extension Exchange {
    /// Sets the detour for a request that is covered.
    /// - Returns: how much of its body has to be kept for that.
    mutating func cover(_ covered: CoveredResource, _ out: borrowing Outbox) -> Int {
        let (policy, resource) = (covered.policy, covered.resource)
        let isLeft = policy.clientHandlesAdvice(request)
        if covered.isEnforced {
            let shown = policy.lacksSession(request) ? SessionDetour(policy, ProvidedSession()) : nil
            let enforcement = EnforcementDetour(
                policy, resource, form: resource.translation ?? (isLeft ? .header : nil), shown: shown)
            detour = enforcement
            if let shown { detour = DetourChain.of([shown, enforcement]) }
            // nothing has gone out before AM has answered, so nothing has to be sent again; what may be a form is looked through
            return HiddenRequest.isSearched(request) ? policy.maxBodyBytes : 0
        }
        if let form = resource.translation {
            detour = AdviceTranslator(policy, resource, as: form)
            return policy.isPolicyEvaluation(request) ? policy.maxBodyBytes : 0
        }
        if isLeft {
            tell(.leftToClient, out.now)
            return 0
        }
        detour = stepUp(policy, resource)
        return policy.refusalToReplay(request, resource, bodyComplete: true) == nil ? policy.maxBodyBytes : 0
    }

    /// The step-up, and before it what shows a session where the request carries none.
    private func stepUp(_ policy: AuthorizationPolicy, _ resource: AuthorizationPolicy.Resource) -> (any Detour)? {
        guard policy.lacksSession(request) else { return StepUpDetour(policy: policy, resource: resource) }
        let provided = ProvidedSession()
        return DetourChain.of([
            StepUpDetour(policy: policy, resource: resource, provided: provided), SessionDetour(policy, provided),
        ])
    }

    /// Where the body goes out as it comes, what may name another method in it is looked for on the way.
    mutating func beginSearch() {
        body.search = detour?.enforcing == nil || body.isKept ? nil : HiddenRequest.search(for: attempt.head ?? request)
    }

    /// Nothing past what names another method goes out, least of all the end that would make the request whole.
    /// - Returns: false where the request goes no further.
    mutating func isPassable(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard body.search?.finds(bytes) == true else { return true }
        body.search = nil
        if hasStarted { cut(reset: true, &out) } else { answer(.hiddenMethod, isLast: true, &out) }
        return false
    }

    /// Has a transaction that the client hands back by itself go on as the resource expects it.
    mutating func handTransactionOn(_ out: borrowing Outbox) {
        guard engine.isTranslating, detour != nil, let covered = engine.stepUp(for: request, body.framing),
            !covered.isEnforced, covered.resource.translation != nil
        else { return }
        do throws(Replay.Refusal) {
            let handed = try covered.policy.handedOn(
                request, body: body.isKept ? body.bytes : nil, to: covered.resource)
            guard let handed else { return }
            attempt.basis = (handed.head, handed.body == body.bytes ? nil : handed.body)
            attempt.renew()
            tell(.translated("the transaction that the client shows goes on as the resource expects it"), out.now)
        } catch {
            tell(.translated("the transaction that the client shows goes on as it is: \(error.reason)"), out.now)
        }
    }

    /// Sees to it that no decision outlives its session.
    mutating func watchSession() {
        guard engine.isEnforcing,
            let watch = SessionEndDetour(engine.settings.servers, watching: watched?.action, sessionEnd)
        else { return }
        addDetour(watch)
    }
}
