import HTTPCodec
import Interception

/// The state that all exchanges of a client's connection share.
struct ClientContext {
    let stores: SharedStores
    var source: ClientSource
    /// The client's address and port as text, for the record.
    var name: String
    /// The connection's part of its client's share; nil when shares are not counted.
    let share: ConnectionShare?
    /// The authenticated user: of this request, or of the tunnel around it.
    var user: String?
    /// The target of the CONNECT tunnel around the exchanges, when it carries plain HTTP or decrypted TLS.
    var tunnel: Origin?
    /// The id of the test session of all requests: that of the port, or of the tunnel around them.
    var testSession: String?
    /// The client's TLS handshake that opened the tunnel.
    var handshake: HandshakeMark?
    var binding = ConnectionBinding()
    /// The origin of the last request.
    var lastOrigin: Origin?
    /// The time when the client closed its side, or of the last progress since then.
    var endedAt: Int?

    var hasEnded: Bool { endedAt != nil }

    var key: ClientKey { ClientKey(address: source.address, user: user) }
}
