import Formats
import HTTPCodec

/// A CONNECT until the protocol in its tunnel is known.
struct Tunnel {
    enum Lease {
        /// No connection to the origin was ordered yet.
        case none
        case leasing(LeaseStep)
        /// The connection to the origin stands.
        case standing
    }

    var target: Origin
    var lease = Lease.none
    /// The client has received the response to CONNECT.
    var isAnswered = false
    /// The time until which a client whose TLS would be decrypted may begin, even if the origin speaks first.
    var awaitsClientUntil = 0
    /// The client has begun a ClientHello.
    var hasHello = false
    /// The client's handshake is under way.
    var handshake: HandshakeMark?
    /// Bytes of the origin that may begin HTTP/2 (RFC 9113 §3.4): its server need not wait for the client.
    var heard: [UInt8] = []

    /// Whether the origin's connection stands or is being made.
    var isAsked: Bool { if case .none = lease { false } else { true } }

    /// The origin's connection ended before any byte passed.
    var hasLost = false

    /// The client sent neither HTTP nor TLS, which may not pass yet: the origin's bytes may show the protocol.
    var isUnknown = false

    /// Whether the origin spoke first, and neither HTTP nor TLS. Such a protocol carries no HTTP requests.
    var isGreeted: Bool {
        guard let first = heard.first else { return false }
        return !mayBeHTTP2 && !Self.resemblesTLS(first) && !heard.starts(with: "HTTP/".utf8.prefix(heard.count))
    }

    /// Whether the byte may begin a TLS record (RFC 8446 §5.1): servers skip some records before the ClientHello.
    static func resemblesTLS(_ byte: UInt8) -> Bool { (20...24).contains(byte) }

    /// Whether more bytes of the origin may be kept.
    var hasRoom: Bool { heard.count <= Self.maxHeard }

    /// Keeps bytes of the origin while they may begin HTTP/2.
    mutating func hears(_ bytes: Span<UInt8>) -> Bool {
        heard.append(bytes)
        guard hasRoom else { return false }
        return mayBeHTTP2
    }

    /// Whether the origin's bytes may begin with a SETTINGS frame on stream 0 without ACK. No server sends 4 KiB of
    /// settings.
    private var mayBeHTTP2: Bool {
        let isFrame = heard.prefix(9).enumerated().allSatisfy { index, byte in
            switch index {
            case 0: byte == 0
            case 1: byte < 0x10
            case 2: true
            case 3: byte == 4
            default: byte == 0
            }
        }
        return isFrame && (heard.count < 3 || (Int(heard[1]) << 8 | Int(heard[2])) % 6 == 0)
    }

    private static let maxHeard = 16 << 10
}
