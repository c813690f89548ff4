import HTTPCodec
import Interception

/// A response that is held until filters and interceptors have decided.
struct HeldResponse {
    enum Reason: UInt8 {
        /// Interceptors edit it before filters look at it.
        case preparation
        /// It may carry an advice.
        case advice
        /// Its body shows which flow an `authId` belongs to.
        case flow
        /// It is the response to a call of Usher.
        case call
        /// An interceptor changes its body.
        case edit
    }

    var reason: Reason
    var head: ResponseHead
    var body: [UInt8] = []
    var limit: Int
}

extension HeldResponse {
    /// The body without content codings; nil if it cannot be decoded within that many bytes.
    func plainBody(_ limit: Int) -> [UInt8]? { PlainBody.read(body, head.fields, limit: limit) }

    /// An interceptor's response in place of the called server's.
    init(_ local: DirectResponse) {
        head = ResponseHead(status: local.status, reason: ReasonPhrase.of(local.status))
        for header in local.headers { head.fields.add(header.name, header.value) }
        body = local.body
        reason = .call
        limit = local.body.count
    }
}

/// Learns which flow the `authId` in a response of AM belongs to.
extension Classification {
    /// Whether the body of the response shows the flow of an `authId`.
    func tellsFlow(in response: borrowing ResponseHead) -> Bool {
        guard let action else { return false }
        return (action == .startAuthenticate || action == .authenticate) && response.status == 200
    }

    /// Remembers the flow.
    func learnFlow(from held: HeldResponse, into flows: (any FlowStore)?) {
        guard tellsFlow(in: held.head), let flows, let payload,
            let authId = held.plainBody(held.limit).flatMap(Classifier.authId)
        else { return }
        flows.remember(authId: authId, payload: payload)
    }
}
