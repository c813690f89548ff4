public import HTTPCodec

/// Replaces the origins in a dry run.
public enum DryOrigin: Sendable {
    /// Every origin accepts connections, and none responds.
    case silent
    /// The client's request gets this answer each time. Calls by Usher get none.
    case always(DryAnswer)
    /// Every request, calls by Usher included, gets the next of these answers.
    case script([DryAnswer])
}

/// An origin's reaction to a request.
public enum DryAnswer: Sendable {
    /// Sends these bytes, and no more.
    case bytes([UInt8])
    /// Refuses the connection.
    case unreachable(LeaseFailure)
    /// Takes the request and never responds.
    case never
    /// Closes the connection without a response.
    case hangsUp
}

/// A message that goes to an origin.
public struct DryRequest: Sendable {
    /// The head as the next hop reads it.
    public var head: RequestHead
    public var body: [UInt8]
    /// The request is a call by Usher.
    public var isCall: Bool
}
