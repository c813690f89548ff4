internal import HTTP2
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// What is spoken on a connection. HTTP/1 is, where nothing is said here.
struct Protocols {
    /// The codec of a client's connection that carries many exchanges at a time from its first byte on.
    var server: () -> (any StreamServer)? = { nil }
    /// Whether a connection to there may come to carry many exchanges at a time.
    var mayCarryMany: (Origin, Engine) -> Bool = { origin, engine in
        let http2 = engine.settings.http2
        return origin.scheme == .https ? http2.origins : http2.speaksCleartext(to: origin)
    }
    /// The codec of an origin's, once its handshake is done.
    var client = Protocols.client(WindowBudget())

    private static func client(_ budget: WindowBudget) -> (OriginChannel, Engine) -> (any StreamClient)? {
        { channel, engine in
            let isChosen =
                channel.stream.map { $0.negotiated?.spoken == .http2 }
                ?? engine.settings.http2.speaksCleartext(to: channel.origin)
            return isChosen ? HTTP2Client(limits: engine.headLimits, budget: budget) : nil
        }
    }
}
