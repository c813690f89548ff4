internal import HTTPCodec

/// What is spoken on a connection whose handshake is done. HTTP/1 is, where nothing is said here.
struct Protocols {
    /// The leg of a client's connection that carries many exchanges at a time.
    var server: () -> (any StreamServer)? = { nil }
    /// The leg of an origin's.
    var client: (OriginChannel) -> (any StreamClient)? = { _ in nil }
}
