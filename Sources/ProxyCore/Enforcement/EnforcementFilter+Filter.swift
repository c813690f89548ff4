import Authorization
import HTTPCodec
import Interception

/// When it has its part in an exchange, and who gets one.
extension EnforcementFilter: Filter {
    var hold: FilterHold? {
        switch stage {
        case .watching, .granted: return nil
        case .queueing, .loggingIn, .asking, .steppingUp, .following: break
        }
        let inner = stepUp.hold
        return FilterHold(
            isActive: true, bytes: inner?.bytes ?? 0, limit: limit, endsWithClient: inner?.endsWithClient == true)
    }

    func request(
        _ step: RequestStep, _ head: inout RequestHead, _ context: FilterContext, _ notes: inout [ExchangeMoment]
    ) -> FilterAction {
        switch step {
        case .ready:
            if case .granted(let head) = stage, Self.isSame(head, context.sent) { break }
            return begin(context, &notes) ?? .proceed
        case .leaving: leave(with: &head)
        }
        return .proceed
    }

    func event(_ event: FilterEvent, _ context: FilterContext, _ notes: inout [ExchangeMoment]) -> FilterAction? {
        switch event {
        case .answered(let response): called(response, context, &notes)
        case .failed(let reason): failed(reason, context, &notes)
        case .woke: woke(context, &notes)
        }
    }

    func end(_ end: FilterEnd) {
        guard case .decided = end else { return }
        stepUp.end(.decided)
        rest()
    }
}

extension EnforcementFilter {
    static let registration = FilterRegistration(.head, where: { !$0.authorization.isEmpty }) { setup in
        guard let covered = setup.covered, case .enforce = covered.manner(setup.request) else { return }
        let (policy, resource) = (covered.policy, covered.resource)
        let form = resource.translation ?? (policy.clientHandlesAdvice(setup.request) ? .header : nil)
        setup.enforce(policy)
        // nothing has gone out before AM has answered, so nothing has to be sent again; what may be a form is looked through
        setup.add(
            EnforcementFilter(policy, resource, form: form, covered.provided(for: setup.request)),
            keeping: HiddenRequest.isSearched(setup.request) ? policy.maxBodyBytes : 0)
    }
}
