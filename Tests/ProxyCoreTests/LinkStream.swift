import HTTP1
import HTTPCodec

@testable import ProxyCore

/// What an exchange has of an origin's connection: a stream, or the whole of one that speaks HTTP/1.
struct LinkStream: OriginWriter {
    let link: OriginLink
    /// Nil where it has the whole connection.
    let id: StreamID?

    var codec: HTTP1Client {
        get { link.codec }
        nonmutating set { link.codec = newValue }
    }

    var shared: (codec: any StreamClient, stream: StreamID)? {
        guard let id, let codec = link.shared else { return nil }
        return (codec, id)
    }

    /// Bytes that wait for the origin.
    var queued: Int { link.queued(for: id) }
}
