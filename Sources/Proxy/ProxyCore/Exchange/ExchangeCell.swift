import HTTPCodec

/// Holds an exchange. A class, so that a finished exchange lends its buffers to the next, and an idle connection
/// holds none.
final class ExchangeCell {
    var exchange: Exchange
    /// The origin's end of the stream.
    var origin = Endpoint()
    /// The client's stream, when its connection is multiplexed.
    var stream: ClientStream?
    /// The exchange has made calls, which may still be under way.
    var hasCalls = false

    init(_ id: ExchangeID, _ engine: Engine) { exchange = Exchange(id, engine) }
}
