import Formats
import HTTPCodec

/// A CONNECT that is being answered, until it is clear what the client speaks inside.
struct Tunnel {
    enum Lease {
        /// The origin is not asked for yet.
        case none
        case leasing(LeaseStep)
        /// Its connection stands.
        case standing
    }

    var target: Origin
    var lease = Lease.none
    /// The client was told that its tunnel stands.
    var isAnswered = false
    /// The client has begun with a ClientHello.
    var hasHello = false
    /// What the origin has said that may be the beginning of HTTP/2 (RFC 9113 §3.4): a server does not wait for its client there.
    var heard: [UInt8] = []

    /// Keeps what the origin says where it may still be that.
    mutating func hears(_ bytes: Span<UInt8>) -> Bool {
        heard.append(bytes)
        guard heard.count <= Self.maxHeard else { return false }
        for (index, byte) in heard.prefix(9).enumerated() where index >= 3 {
            // a SETTINGS frame of the connection, which acknowledges none
            if byte != (index == 3 ? 4 : 0) { return false }
        }
        return true
    }

    private static let maxHeard = 16 << 10
}
