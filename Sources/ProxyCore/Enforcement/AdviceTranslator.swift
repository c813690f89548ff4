import Authorization
import HTTPCodec
import Interception

/// Tells a client the advice of a resource in the form that it understands, where it steps up by itself.
final class AdviceTranslator: PassiveDetour {
    private let policy: AuthorizationPolicy
    private let resource: AuthorizationPolicy.Resource
    private let form: Advice.Source

    init(_ policy: AuthorizationPolicy, _ resource: AuthorizationPolicy.Resource, as form: Advice.Source) {
        self.policy = policy
        self.resource = resource
        self.form = form
    }

    var maxResponseBytes: Int { policy.maxResponseBytes }

    private func reader(_ request: RequestHead, _ sent: RequestHead) -> AdviceReader {
        AdviceReader(policy.forms(for: request, sent: sent, resource))
    }

    /// A challenge tells an advice without saying anything of the request again.
    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        guard form != .redirect, policy.offersHeader, resource.advice.contains(.header),
            !head.fields.contains(.xAuthenticateResponse), !policy.isPolicyEvaluation(head),
            context.initiator.refusal(listed: policy.origins) == nil
        else { return }
        head.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        let reader = reader(request, sent)
        if let advice = reader.read(status: response.status, fields: response.fields, body: nil) {
            return advice.source == form ? nil : policy.maxResponseBytes
        }
        guard form != .body, reader.needsBody(status: response.status, fields: response.fields) else { return nil }
        return min(policy.maxResponseBytes, AdviceReader.maxBody)
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        let read = reader(context.request, context.sent).read(
            status: response.head.status, fields: response.head.fields, body: response.body)
        guard let advice = read, advice.source != form else { return .deliver(response) }
        let exchange = AdvisedExchange(
            request: context.request, sent: context.sent, body: context.body, bodyComplete: context.isWhole,
            resource: resource, status: response.head.status)
        if let doubt = policy.doubt(of: advice, in: exchange) {
            notes.append(.notAdvice(doubt))
            return .deliver(response)
        }
        notes.append(.advice(status: response.head.status, host: context.request.host, summary: advice.summary))
        if let refusal = context.initiator.refusal(listed: policy.origins) {
            notes.append(.translated("not translated: \(refusal)"))
            return .deliver(response)
        }
        switch policy.realm(of: advice, in: exchange) {
        case .refused(let reason):
            notes.append(.translated("not translated: \(reason)"))
            return .deliver(response)
        case .stepUp(let realm):
            if let refusal = advice.refusal {
                notes.append(.translated("not translated: \(refusal)"))
                return .deliver(response)
            }
            let written = WrittenAdvice(advice, as: form, realm: realm, about: context.request, policy)
            notes.append(.translated("the client is told of \(advice.summary), and acts on it by itself"))
            return .deliver(response.saying(written, isHead: context.request.method == .head))
        }
    }
}

extension HeldResponse {
    /// The same with an advice in the place of what it said.
    func saying(_ written: WrittenAdvice, isHead: Bool) -> HeldResponse {
        let body = isHead ? [] : written.body
        return HeldResponse(reason: .advice, head: written.replacing(head), body: body, limit: body.count)
    }
}
