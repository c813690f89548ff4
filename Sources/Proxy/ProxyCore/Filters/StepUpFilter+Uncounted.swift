import Authorization
import HTTPCodec
import Interception

/// Logs an advice in a body where the configuration reads none from bodies, so that a missing step-up is explained.
extension StepUpFilter {
    private static let body = AdviceReader(.body)

    /// The most bytes of a response to search for an advice; nil if it cannot hold one, or the notice was already logged.
    func readsUncounted(_ response: ResponseHead, _ forms: Advice.Forms) -> Int? {
        let limit = min(policy.maxResponseBytes, AdviceReader.maxBody)
        guard !forms.contains(.body), !resource.bodyNotice.isGiven, response.status != 200,
            Self.body.needsBody(status: response.status, fields: response.fields)
        else { return nil }
        if let length = response.fields["Content-Length"].flatMap({ Int($0) }), length > limit { return nil }
        return limit
    }

    func noteUncounted(_ response: HeldResponse, _ forms: Advice.Forms, _ context: inout FilterContext) {
        guard readsUncounted(response.head, forms) != nil,
            Self.body.read(status: response.head.status, fields: response.head.fields, body: response.body) != nil,
            resource.bodyNotice.give()
        else { return }
        context.note(.uncountedAdvice(resource: resource.url))
    }

    /// Logs an advice that cannot be read. The client gets the response.
    func noteFlaw(_ reader: AdviceReader, _ response: ResponseHead, _ context: inout FilterContext) {
        guard let flaw = reader.flaw(status: response.status, fields: response.fields) else { return }
        context.note(.notAdvice(flaw))
    }
}
