import HTTPCodec

/// A client's stream, with the part of its request that is not used yet.
struct ClientStream {
    let id: StreamID
    /// Bytes of the body, at most the client's flow-control window.
    var pending: [UInt8] = []
    /// The trailers, once the request is complete.
    var end: [UInt8]?
    /// The number of used bytes not yet granted to the client again, because the origin's queue is full.
    var owed = 0
    var tunnel: StreamTunnel?

    init(_ id: StreamID) { self.id = id }
}

extension ExchangeCell {
    /// The stream's id in the codec.
    var streamID: StreamID { stream?.id ?? ServerCodec.only }
}
