public import TLSEngine

/// Remembers which clients repeatedly refuse which servers' certificates. A refusal counts only for its own client.
public protocol RefusalStore: AnyObject, Sendable {
    func began(_ place: ServerPlace, by client: ClientKey)
    /// - Parameter isDone: the handshake succeeded, and there was a connection.
    func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool)
    func refused(_ place: ServerPlace, by client: ClientKey)
    func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure
    func accepted(_ place: ServerPlace, by client: ClientKey)
    func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool
}

/// A client's handshake and the connection after it. Its lifetime ends with the last reference.
final class HandshakeMark {
    private let store: any RefusalStore
    private let place: ServerPlace
    private let client: ClientKey
    /// The handshake succeeded.
    var isDone = false

    init(_ store: any RefusalStore, _ place: ServerPlace, _ client: ClientKey) {
        (self.store, self.place, self.client) = (store, place, client)
        store.began(place, by: client)
    }

    deinit { store.ended(place, by: client, isDone: isDone) }
}

extension TLSStream.Negotiated: CustomStringConvertible {
    /// `TLSv1.3, TLS_AES_256_GCM_SHA384, http/1.1, resumed`
    public var description: String {
        version + ", " + cipher + (spoken.map { ", \($0.rawValue)" } ?? "") + (isResumed ? ", resumed" : "")
    }
}
