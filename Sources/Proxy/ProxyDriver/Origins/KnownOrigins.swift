import HTTPCodec
import ProxyCore

/// The last known protocol of origins that may speak HTTP/2. Requests to an HTTP/1 origin do not wait for the dials of others.
/// Bounded: origins that were not noted recently are forgotten.
struct KnownOrigins {
    enum Speech: Equatable {
        /// HTTP/1: one exchange at a time.
        case exchanges
        case streams(StreamTerms)
    }

    /// The assumed limits before an origin's SETTINGS: the recommended minimum of streams (RFC 9113 §6.5.2).
    static let unsaid = StreamTerms(maxStreams: 100)
    private static let limit = 1_024

    private var recent: [Origin: Speech] = [:]
    private var older: [Origin: Speech] = [:]

    subscript(origin: Origin) -> Speech? { recent[origin] ?? older[origin] }

    /// The stream limits of a connection to this origin.
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
