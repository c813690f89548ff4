/// How an origin's stream ended before its answer was whole.
public enum StreamEnding: Sendable {
    /// With its whole connection.
    case connection
    /// The origin gave it up.
    case reset
    /// The origin says that it has made nothing of the request, whatever that is (RFC 9113 §8.7).
    case untouched
}
