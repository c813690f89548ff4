import Authorization
import HTTPCodec
import Interception

/// The responses to requests that do not go out.
extension EnforcementFilter {
    func deny(_ reason: String) -> FilterAction {
        refuse(ProxyError("http_request_denied", status: 403, "\(reason) (authorization: \(resource.url))"))
    }

    /// Refuses a request that is itself at fault, with a 400.
    func refuse(_ reason: String) -> FilterAction {
        refuse(ProxyError("http_request_denied", status: 400, "AM is not asked about the request: \(reason)"))
    }

    /// Refuses a request for which AM would decide on one method while the resource may use another.
    func refusalOfHiddenMethod(_ context: FilterContext) -> FilterAction? {
        HiddenRequest.method(in: context.sent, context.sentBody, limit: policy.maxBodyBytes).map {
            refuse("\($0) may name another method than \(context.sent.methodText); send that method itself")
        }
    }

    func unavailable(_ reason: String) -> FilterAction {
        refuse(ProxyError("http_request_denied", status: 503, "the request needs a decision of AM: \(reason)"))
    }

    func unusable(_ reason: String) -> FilterAction {
        refuse(ProxyError("http_request_denied", status: 502, "the request needs a decision of AM: \(reason)"))
    }

    private func refuse(_ error: ProxyError) -> FilterAction {
        rest()
        return .refuse(error)
    }

    func beyond(_ context: FilterContext) -> FilterAction {
        deny("AM asks for more than Usher could do\(Self.reason(context.notes))")
    }

    /// The reason that a step-up failed or did not start.
    private static func reason(_ notes: [LogEvent]) -> String {
        for note in notes.reversed() {
            switch note {
            case .declined(let reason), .stepUpFailed(let reason), .notReplayed(let reason): return ": \(reason)"
            case .heldOff(_, let seconds): return ": AM refused its answers lately, so they wait for \(seconds) s"
            default: continue
            }
        }
        return ""
    }

    /// Gives the client the advice, for its own step-up.
    func handOver(_ response: HeldResponse, as form: Advice.Source, _ context: inout FilterContext) -> FilterAction {
        guard
            let advice = AdviceReader(.body).read(
                status: response.head.status, fields: response.head.fields, body: response.body)
        else { return unusable("AM's advice cannot be read") }
        if let refusal = advice.refusal { return unusable(refusal) }
        let realm = enforcement.realm ?? policy.server.realms.first ?? "/"
        let written = WrittenAdvice(advice, as: form, realm: realm, about: context.request, policy)
        var held = HeldResponse(reason: .advice, head: ResponseHead(status: 403, reason: ""), limit: 0)
        held.head.fields.add("Proxy-Status", "usher; error=http_request_denied; details=\"AM asks for more\"")
        context.note(.translated("the client is told of \(advice.summary), and acts on it by itself"))
        rest()
        return .deliver(held.saying(written, isHead: context.request.method == .head))
    }
}
