internal import HTTPCodec

/// Checks whether an origin with prior knowledge speaks HTTP/2, before any request is sent. An HTTP/2 server starts with SETTINGS
/// (RFC 9113 §3.4); others respond in their own way.
struct Greeting {
    enum Finding {
        case needsMore
        /// It speaks HTTP/2; all bytes received so far.
        case streams([UInt8])
        case other
    }

    /// The codec that has started.
    let codec: any StreamClient
    private var bytes: [UInt8] = []
    /// The type, flags and stream of a SETTINGS frame without ACK (RFC 9113 §6.5).
    private static let beginning: [UInt8] = [4, 0, 0, 0, 0, 0]

    /// - Parameter out: receives the greeting.
    init(_ codec: any StreamClient, to out: inout [UInt8]) {
        self.codec = codec
        codec.ping(to: &out)
    }

    mutating func received(_ input: UnsafeBufferPointer<UInt8>) -> Finding {
        bytes += input
        for (index, expected) in Self.beginning.enumerated() {
            guard index + 3 < bytes.count else { return .needsMore }
            if bytes[index + 3] != expected { return .other }
        }
        return .streams(bytes)
    }
}
