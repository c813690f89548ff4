/// Where an exchange lives. An object, so that one that is over lends its buffers to the next, and a connection without one
/// holds none.
final class ExchangeCell {
    var exchange: Exchange

    init(_ id: ExchangeID, _ engine: Engine) { exchange = Exchange(id, engine) }
}
