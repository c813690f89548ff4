public import HTTPCodec

/// How an origin's stream ended before its answer was whole.
public enum StreamEnding: Equatable, Sendable {
    /// With its whole connection, and what the origin said of that, where it said anything.
    case connection(StreamErrorCode?)
    /// With its connection, on which nothing was heard from the origin, not even an answer to a PING.
    case silence
    /// The origin gave it up. Where it refused it, it says that it has made nothing of the request, whatever that is
    /// (RFC 9113 §8.7).
    case reset(StreamErrorCode)

    /// What happened, in words that an error goes on from.
    var words: String {
        switch self {
        case .connection(nil): "the origin closed the connection"
        case .connection(let code?): "the origin closed the connection (GOAWAY: \(code))"
        case .silence: "the origin fell silent and answered no PING"
        case .reset(.refused): "the origin refused the request's stream (REFUSED_STREAM)"
        case .reset(let code): "the origin gave the request's stream up (RST_STREAM: \(code))"
        }
    }

    var blamesProtocol: Bool {
        switch self {
        case .connection(let code?), .reset(let code): code.blamesProtocol
        case .connection(nil), .silence: false
        }
    }
}
