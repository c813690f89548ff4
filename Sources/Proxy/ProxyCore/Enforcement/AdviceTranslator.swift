import Authorization
import HTTPCodec
import Interception

/// Gives a client that steps up by itself the resource's advice in a form that it understands.
final class AdviceTranslator: Filter {
    private let policy: AuthorizationPolicy
    private let resource: AuthorizationPolicy.Resource
    private let form: Advice.Source

    init(_ policy: AuthorizationPolicy, _ resource: AuthorizationPolicy.Resource, as form: Advice.Source) {
        self.policy = policy
        self.resource = resource
        self.form = form
    }

    private func reader(_ context: FilterContext) -> AdviceReader {
        AdviceReader(policy.forms(for: context.request, sent: context.sent, resource))
    }

    /// Asks the resource for a challenge, which holds an advice without repeating the request.
    private func offer(in head: inout RequestHead, _ context: FilterContext) {
        guard form != .redirect, policy.offersHeader, resource.advice.contains(.header),
            !head.fields.contains(.xAuthenticateResponse), !policy.isPolicyEvaluation(head),
            context.initiator.refusal(listed: policy.origins) == nil
        else { return }
        head.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
    }

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        if case .leaving = step { offer(in: &head, context) }
        return .proceed
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .offered: if let limit = wanted(of: head, context) { return .hold(upTo: limit) }
        case .whole(let response): return translate(response, &context)
        case .head, .tooLarge: break
        }
        return .proceed
    }

    private func wanted(of response: ResponseHead, _ context: FilterContext) -> Int? {
        let reader = reader(context)
        if let advice = reader.read(status: response.status, fields: response.fields, body: nil) {
            return advice.source == form ? nil : policy.maxResponseBytes
        }
        guard form != .body, reader.needsBody(status: response.status, fields: response.fields) else { return nil }
        return min(policy.maxResponseBytes, AdviceReader.maxBody)
    }

    private func translate(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        let read = reader(context).read(
            status: response.head.status, fields: response.head.fields, body: response.body)
        guard let advice = read, advice.source != form else { return .proceed }
        let exchange = AdvisedExchange(
            request: context.request, sent: context.sent, body: context.body, bodyComplete: context.isWhole,
            resource: resource, status: response.head.status)
        if let doubt = policy.doubt(of: advice, in: exchange) {
            context.note(.notAdvice(doubt))
            return .proceed
        }
        context.note(.advice(status: response.head.status, host: context.request.host, summary: advice.summary))
        if let refusal = context.initiator.refusal(listed: policy.origins) {
            context.note(.translated("not translated: \(refusal)"))
            return .proceed
        }
        switch policy.realm(of: advice, in: exchange) {
        case .refused(let reason):
            context.note(.translated("not translated: \(reason)"))
            return .proceed
        case .stepUp(let realm):
            if let refusal = advice.refusal {
                context.note(.translated("not translated: \(refusal)"))
                return .proceed
            }
            let written = WrittenAdvice(advice, as: form, realm: realm, about: context.request, policy)
            context.note(.translated("the client is told of \(advice.summary), and acts on it by itself"))
            return .deliver(response.saying(written, isHead: context.request.method == .head))
        }
    }
}

extension HeldResponse {
    /// The response with this advice in place of its own.
    func saying(_ written: WrittenAdvice, isHead: Bool) -> HeldResponse {
        let body = isHead ? [] : written.body
        return HeldResponse(reason: .advice, head: written.replacing(head), body: body, limit: body.count)
    }
}

extension AdviceTranslator {
    static let registration = FilterRegistration(.head, where: { !$0.authorization.isEmpty }) { setup in
        guard let covered = setup.covered, case .translate(let form) = covered.manner(setup.request) else { return }
        let policy = covered.policy
        setup.add(
            AdviceTranslator(policy, covered.resource, as: form),
            keeping: policy.isPolicyEvaluation(setup.request) ? policy.maxBodyBytes : 0)
    }
}
