/// An event of the response that the client's side reads. The codec holds heads and trailers.
public enum ResponseEvent: Equatable, Sendable {
    case needsMore
    /// An interim response (1xx but 101) is in the head; another follows.
    case interim
    /// The final head is here, and how its body comes.
    case head(BodyFraming)
    /// The peer speaks another protocol from here on: 101, or 2xx to CONNECT.
    case switched
    /// These bytes of the input are body.
    case data(Range<Int>)
    /// The response is complete.
    case end
}
