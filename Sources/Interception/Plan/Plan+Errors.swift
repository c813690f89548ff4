internal import ContentCoding
public import HTTPCodec

/// What becomes of a request that has no answer, and whether one may have to be sent again.
extension Plan {
    /// Runs the error phase: rules in order, up to the first that answers or aborts.
    /// - Parameters:
    ///   - fault: why there is none.
    ///   - request: as it was sent.
    public func applyError(
        _ fault: OriginFault, _ request: RequestHead, _ context: inout EditContext
    ) -> Outcome {
        var outcome = begin(.error)
        var bodies = SubjectBodies(request: sentBody(of: request, context))
        let subject = Subject(
            request: request, response: nil, classification: context.classification, error: fault)
        for index in errorPhase where outcome.goesOn {
            let rule = rules[index]
            if applies(rule, to: subject, &bodies, &context, &outcome) {
                rule.handle(request, &bodies, &context, &outcome)
            }
        }
        if explains { finish(&outcome, subject, bodies) }
        return outcome
    }

    /// The logins of rules that apply to a request, in file order.
    /// - Parameter arrival: the request's body.
    public func logins(
        for head: RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> [AppliedLogin] {
        guard !loggingIn.isEmpty else { return [] }
        let traits = RequestGate.Traits(head)
        let action = context.classification?.action
        let subject = Subject(request: head, response: nil, classification: context.classification)
        var bodies = SubjectBodies(request: EditedBody(arrival, of: head, CodingLimits(size: context.bodyLimit)))
        var found: [AppliedLogin] = []
        for candidate in loggingIn where candidate.demand.admits(action) && candidate.gate.admits(traits) {
            let rule = rules[candidate.index]
            guard let login = rule.login, let hosts = rule.hosts else { continue }
            guard rule.judge(subject, &bodies, context) == .yes else { continue }
            if takes(rule, &context) {
                found.append(AppliedLogin(interceptor: rule.name, login: login, hosts: hosts))
            }
        }
        return found
    }

    /// Whether a rule may ask to have such a request sent again, as far as the request tells: its body has to be kept then.
    /// - Parameter head: as it would be sent; what edits make of it may be what the rule asks for.
    func mayRetry(_ head: borrowing RequestHead, _ classification: Classification?) -> Bool {
        guard !retrying.isEmpty else { return false }
        let traits = RequestGate.Traits(head)
        let action = classification?.action
        return retrying.contains { $0.demand.admits(action) && $0.gate.admits(traits) }
    }
}
