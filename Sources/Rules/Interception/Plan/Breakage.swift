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
        case .garbage: "it gets bytes that are not HTTP"
        case .malformedStatus: "it gets a response without a status"
        case .malformedHeader: "it gets a response with an invalid header line"
        case .malformedLength: "it gets a response with an invalid Content-Length"
        case .malformedChunk: "it gets a response with an invalid chunk"
        }
    }
}
