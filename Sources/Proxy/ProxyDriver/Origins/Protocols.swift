internal import HTTP2
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// The protocols of connections. The default is HTTP/1.
struct Protocols {
    /// The codec of a client connection that is HTTP/2 from its first byte.
    var server: () -> (any StreamServer)? = { nil }
    /// Whether a connection to this origin may become HTTP/2.
    var mayCarryMany: (Origin, Engine) -> Bool = { origin, engine in
        let http2 = engine.settings.http2
        return origin.scheme == .https ? http2.origins : http2.speaksCleartext(to: origin)
    }
    /// The codec of an origin connection after its handshake; nil for HTTP/1.
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
