/// What the client gets in the place of an answer. Its connection ends with that.
public enum Breakage: String, CaseIterable, Sendable {
    /// The connection is reset, without a byte of an answer.
    case reset
    /// The connection is closed, without a byte of an answer.
    case empty
    /// Bytes that are nothing.
    case garbage
    /// A head whose status line has no status.
    case malformedStatus = "malformed_status"
    /// A head with a line that is no field.
    case malformedHeader = "malformed_header"
    /// A head whose length is no number.
    case malformedLength = "malformed_length"
    /// A body whose framing breaks off into something else.
    case malformedChunk = "malformed_chunk"

    /// One sentence of the client, without its end.
    public var words: String {
        switch self {
        case .reset: "its connection is reset"
        case .empty: "its connection is closed without an answer"
        case .garbage: "it gets bytes that mean nothing"
        case .malformedStatus: "it gets an answer whose status line has no status"
        case .malformedHeader: "it gets an answer with a header line that is none"
        case .malformedLength: "it gets an answer whose length is no number"
        case .malformedChunk: "it gets an answer with a chunk that is none"
        }
    }
}
