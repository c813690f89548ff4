/// A fault sent to the client in place of a response. The connection ends afterwards.
public enum Breakage: String, CaseIterable, Sendable {
    /// Resets the connection without sending a byte.
    case reset
    /// Closes the connection without sending a byte.
    case empty
    /// Sends random bytes that are not HTTP.
    case garbage
    /// Sends a head whose status line has no status.
    case malformedStatus = "malformed_status"
    /// Sends a head with a line that is not a field.
    case malformedHeader = "malformed_header"
    /// Sends a head whose Content-Length is not a number.
    case malformedLength = "malformed_length"
    /// Sends a body with broken chunked framing.
    case malformedChunk = "malformed_chunk"

    /// A sentence about the client for the log, without its end.
    public var words: String {
        switch self {
        case .reset: "its connection is reset"
        case .empty: "its connection is closed without a response"
        case .garbage: "it gets bytes that mean nothing"
        case .malformedStatus: "it gets an answer whose status line has no status"
        case .malformedHeader: "it gets an answer with a header line that is none"
        case .malformedLength: "it gets an answer whose length is no number"
        case .malformedChunk: "it gets an answer with a chunk that is none"
        }
    }
}
