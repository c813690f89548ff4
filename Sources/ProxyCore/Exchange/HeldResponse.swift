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
