import HTTPCodec

/// Where an exchange lives. An object, so that one that is over lends its buffers to the next, and a connection without one
/// holds none.
final class ExchangeCell {
    // One loop's alone, and its connection is done with one of them before it turns to the next: no exchange knows of a cell. To
    // have that looked at each time costs a sixth of what a request does.

    @exclusivity(unchecked) var exchange: Exchange
    /// The other end of its stream.
    @exclusivity(unchecked) var origin = Endpoint()
    /// The client's stream, where its connection carries many exchanges at a time.
    @exclusivity(unchecked) var stream: ClientStream?
    /// Calls have begun for it, which may be under way still.
    @exclusivity(unchecked) var hasCalls = false

    init(_ id: ExchangeID, _ engine: Engine) { exchange = Exchange(id, engine) }
}
