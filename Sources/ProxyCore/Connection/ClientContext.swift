import HTTPCodec
import Interception

/// What the exchanges of one client's connection have in common.
struct ClientContext {
    let stores: SharedStores
    var source: ClientSource
    /// The client's address and port in words, for the record.
    var name: String
    /// What this connection counts for; nil where nobody counts.
    let share: ConnectionShare?
    /// Whose password was right: for this request, or for the tunnel around it.
    var user: String?
    /// Set inside a CONNECT tunnel that carries HTTP, plain or in the TLS that was opened.
    var tunnel: Origin?
    /// The client's own with which the tunnel was opened.
    var handshake: HandshakeMark?
    var binding = ConnectionBinding()
    /// Where the last request went.
    var lastOrigin: Origin?
    /// When the client closed its side, or something last moved since then.
    var endedAt: Int?

    var hasEnded: Bool { endedAt != nil }

    var key: ClientKey { ClientKey(address: source.address, user: user) }
}
