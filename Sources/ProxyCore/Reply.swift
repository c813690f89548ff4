import HTTPCodec

/// What an exchange wants done on the client's side, in order. The leg frames it.
enum Reply {
    /// - isOwn: it was made here, and no origin stands behind it.
    case interim(ResponseHead, isOwn: Bool)
    /// The final head of an answer whose body follows.
    case head(ResponseHead, BodyFraming, HeadManner)
    /// A whole response that was made here.
    /// - isLast: nothing of the client is read after this.
    case own(ResponseHead, [UInt8], isLast: Bool)
    case data([UInt8])
    case end(trailers: [UInt8])
    /// What is no message: an interceptor breaks the answer.
    case raw([UInt8])
    /// Another protocol is spoken from here on.
    case switching(ResponseHead)
    /// CONNECT may be answered, or its origin be connected to.
    case connect
    /// CONNECT to the proxy's own pages is answered.
    case openOwnPages
    /// An exchange of its own, of whose outcome this one is told.
    case call(FilterCall)

    /// More than bytes comes of it, and whatever becomes of the exchange by that is settled there.
    var leadsOn: Bool {
        switch self {
        case .connect, .call: true
        case .interim, .head, .own, .data, .end, .raw, .switching, .openOwnPages: false
        }
    }
}

/// What goes with the head of an answer.
struct HeadManner {
    /// Further lines for it.
    var lines: [UInt8] = []
    /// It was made here, and no origin stands behind it.
    var isOwn = false
    /// Nothing of the client is read after this.
    var isLast = false
}
