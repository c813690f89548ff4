public import HTTPCodec

/// What stands in for origins where a request is run without a network.
public enum DryOrigin: Sendable {
    /// Every origin is there at once, and none answers.
    case silent
    /// Whoever the request is for answers so, however often it is asked. Nobody else does.
    case always(DryAnswer)
    /// Whoever is asked, calls of Usher's own included, answers with the next of these.
    case script([DryAnswer])
}

/// What an origin does when it is asked.
public enum DryAnswer: Sendable {
    /// It sends these bytes, and no more.
    case bytes([UInt8])
    /// There is no connection to it.
    case unreachable(LeaseFailure)
    /// It takes the request and never answers.
    case never
    /// It closes the connection without a word.
    case hangsUp
}

/// A message that goes to an origin.
public struct DryRequest: Sendable {
    /// As the next hop reads it.
    public var head: RequestHead
    public var body: [UInt8]
    /// It is a call of Usher's own.
    public var isCall: Bool
}
