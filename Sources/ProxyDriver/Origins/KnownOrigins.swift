import HTTPCodec
import ProxyCore

/// What origins spoke last on connections that might have come to carry many exchanges. Who wants one to an origin that
/// speaks HTTP/1 waits for nobody else's. Bounded: of those not heard of lately nothing is known.
struct KnownOrigins {
    enum Speech: Equatable {
        /// One exchange at a time.
        case exchanges
        case streams(StreamTerms)
    }

    /// What is taken for granted of streams before an origin has said anything: no fewer than what is recommended for all
    /// (RFC 9113 §6.5.2).
    static let unsaid = StreamTerms(maxStreams: 100)
    private static let limit = 1_024

    private var recent: [Origin: Speech] = [:]
    private var older: [Origin: Speech] = [:]

    subscript(origin: Origin) -> Speech? { recent[origin] ?? older[origin] }

    /// What there may be at a time on a connection to there.
    func terms(_ origin: Origin) -> StreamTerms {
        if case .streams(let terms) = self[origin] { terms } else { Self.unsaid }
    }

    mutating func note(_ speech: Speech, of origin: Origin) {
        if recent.count >= Self.limit, recent[origin] == nil {
            older = recent
            recent = [:]
        }
        recent[origin] = speech
    }

    var count: Int { recent.count + older.count }
}
