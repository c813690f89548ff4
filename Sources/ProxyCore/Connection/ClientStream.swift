import HTTPCodec

/// A client's stream, and what has come of its request that nobody has used yet.
struct ClientStream {
    let id: StreamID
    /// Bytes of the body, no more than the client's window lets it send.
    var pending: [UInt8] = []
    /// The trailers, once the request has come whole.
    var end: [UInt8]?
    /// How many bytes were used that the client has not been told of: its origin has enough to take.
    var owed = 0
    var tunnel: StreamTunnel?

    init(_ id: StreamID) { self.id = id }
}

extension ExchangeCell {
    /// What the codec knows it by.
    var streamID: StreamID { stream?.id ?? ServerCodec.only }
}
