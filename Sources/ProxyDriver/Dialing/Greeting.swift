internal import HTTPCodec

/// Asks an origin that is only said to speak HTTP/2 whether it does: it is greeted so before any request goes out. What it says
/// first tells, for a server that does begins with its settings (RFC 9113 §3.4), and others answer in their own way.
struct Greeting {
    enum Finding {
        case needsMore
        /// It does; all that it has said so far.
        case streams([UInt8])
        case other
    }

    /// What has greeted.
    let codec: any StreamClient
    private var bytes: [UInt8] = []
    /// A SETTINGS frame of the connection that acknowledges none (RFC 9113 §6.5), behind its length.
    private static let beginning: [UInt8] = [4, 0, 0, 0, 0, 0]

    /// - Parameter out: takes what it says.
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
