import HTTPCodec
import Interception

/// A response that is held back until it is clear what becomes of it.
struct HeldResponse {
    enum Reason: UInt8 {
        /// Interceptors make something of it before it is looked at.
        case preparation
        /// It may carry an advice.
        case advice
        /// Its body tells which flow an `authId` belongs to.
        case flow
        /// It answers a call of Usher's own.
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
    /// Its body without content codings; nil where it cannot be had within that many bytes.
    func plainBody(_ limit: Int) -> [UInt8]? { PlainBody.read(body, head.fields, limit: limit) }

    /// What an interceptor answered in the place of whoever was called.
    init(_ local: DirectResponse) {
        head = ResponseHead(status: local.status, reason: ReasonPhrase.of(local.status))
        for header in local.headers { head.fields.add(header.name, header.value) }
        body = local.body
        reason = .call
        limit = local.body.count
    }
}
