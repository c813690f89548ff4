import Authorization
import HTTPCodec
import Interception

/// Advice in a body where the resource does not take it from there: without a word about it, nobody knows why there is no step-up.
extension StepUpFilter {
    private static let body = AdviceReader(.body)

    /// How much of an answer is looked through for one; nil where it can be none, or the word was said.
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

    /// An advice that cannot be read is the client's to see, and worth a word.
    func noteFlaw(_ reader: AdviceReader, _ response: ResponseHead, _ context: inout FilterContext) {
        guard let flaw = reader.flaw(status: response.status, fields: response.fields) else { return }
        context.note(.notAdvice(flaw))
    }
}
