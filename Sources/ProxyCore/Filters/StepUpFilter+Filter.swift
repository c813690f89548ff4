import Authorization
import HTTPCodec
import Interception

/// When it has its part in an exchange, and who gets one.
extension StepUpFilter: Filter {
    var hold: FilterHold? {
        guard let original else { return nil }
        // nobody is asked to step up for a client that may be gone, unless others wait for the same
        return FilterHold(
            isActive: isActive, keepsResponse: true, bytes: original.body.count, limit: limit,
            endsWithClient: isActive && !sharing.isAwaited)
    }

    func request(
        _ step: RequestStep, _ head: inout RequestHead, _ context: FilterContext, _ notes: inout [ExchangeMoment]
    ) -> FilterAction {
        if case .leaving = step { offer(in: &head, context) }
        return .proceed
    }

    func response(
        _ step: ResponseStep, _ head: inout ResponseHead, _ context: FilterContext, _ notes: inout [ExchangeMoment]
    ) -> FilterAction {
        switch step {
        case .head: stage = .watching
        case .offered: if let limit = wanted(of: head, context) { return .hold(upTo: limit) }
        case .whole(let response): return consider(response, context, &notes)
        case .tooLarge: if !isActive { noteFlaw(reader(context), head, &notes) }
        }
        return .proceed
    }

    func event(_ event: FilterEvent, _ context: FilterContext, _ notes: inout [ExchangeMoment]) -> FilterAction? {
        switch event {
        case .answered(let response): answered(response, context, &notes)
        case .failed(let reason): failed(reason, context, &notes)
        case .woke: woke(context, &notes)
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

    /// Asks the resource for an advice that may be acted on, where the configuration wants that.
    private func offer(in head: inout RequestHead, _ context: FilterContext) {
        guard context.isWhole, policy.offersHeader(on: head, resource),
            context.initiator.refusal(listed: policy.origins) == nil
        else { return }
        head.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
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
