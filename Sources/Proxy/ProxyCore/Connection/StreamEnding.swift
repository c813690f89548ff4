public import HTTPCodec

/// The way in which an origin's stream ended before its response was complete.
public enum StreamEnding: Equatable, Sendable {
    /// The connection ended; with the origin's error code, if it sent one.
    case connection(StreamErrorCode?)
    /// The connection was given up, because the origin sent nothing, not even an acknowledgement of a PING.
    case silence
    /// The origin reset the stream. With REFUSED_STREAM it has not processed the request, whatever its method
    /// (RFC 9113 §8.7).
    case reset(StreamErrorCode)

    /// A description to begin an error message with.
    var words: String {
        switch self {
        case .connection(nil): "the origin closed the connection"
        case .connection(let code?): "the origin closed the connection (GOAWAY: \(code))"
        case .silence: "the origin fell silent and did not respond to a PING"
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
