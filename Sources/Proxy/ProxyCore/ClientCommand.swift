import HTTPCodec

/// A command of an exchange for the client's side. Commands are carried out in sequence; the codec frames them.
enum ClientCommand {
    /// - isOwn: Usher made it; there is no origin.
    case interim(ResponseHead, isOwn: Bool)
    /// The final head of a response whose body follows.
    case head(ResponseHead, BodyFraming, HeadManner)
    /// A complete response that Usher made.
    /// - isLast: nothing is read from the client after this.
    case own(ResponseHead, [UInt8], isLast: Bool)
    case data([UInt8])
    case end(trailers: [UInt8])
    /// Raw bytes: an interceptor breaks the response.
    case raw([UInt8])
    /// The connection changes its protocol.
    case switching(ResponseHead)
    /// Answer CONNECT, or connect to its origin first.
    case connect
    /// Answer CONNECT to the proxy's own pages.
    case openOwnPages
    /// Start a call as an exchange of its own, which reports its result to this one.
    case call(FilterCall)

    /// Whether the command starts further events, which settle the exchange themselves.
    var leadsOn: Bool {
        switch self {
        case .connect, .call: true
        case .interim, .head, .own, .data, .end, .raw, .switching, .openOwnPages: false
        }
    }
}

/// The options of a response's head.
struct HeadManner {
    /// Further header lines.
    var lines: [UInt8] = []
    /// Usher made the response; there is no origin.
    var isOwn = false
    /// Nothing is read from the client after this.
    var isLast = false
}
