import HTTPCodec

/// Where an exchange lives. An object, so that one that is over lends its buffers to the next, and a connection without one
/// holds none.
final class ExchangeCell {
    var exchange: Exchange
    /// The other end of its stream.
    var origin = Endpoint()
    /// The client's stream, where its connection carries many exchanges at a time.
    var stream: ClientStream?
    /// Calls have begun for it, which may be under way still.
    var hasCalls = false

    init(_ id: ExchangeID, _ engine: Engine) { exchange = Exchange(id, engine) }
}
