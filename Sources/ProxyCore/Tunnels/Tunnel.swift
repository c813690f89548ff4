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
    /// Until then a client whose TLS would be opened is waited for, whatever the origin says.
    var awaitsClientUntil = 0
    /// The client has begun with a ClientHello.
    var hasHello = false
    /// The client's handshake is under way.
    var handshake: HandshakeMark?
    /// What the origin has said that may be the beginning of HTTP/2 (RFC 9113 §3.4): a server does not wait for its client there.
    var heard: [UInt8] = []

    /// Its origin's connection stands, or is being made.
    var isAsked: Bool { if case .none = lease { false } else { true } }

    /// Its connection ended before anything was said in there.
    var hasLost = false

    /// The client has said what is neither a request nor TLS, where that alone may not pass: the origin may show what it is.
    var isUnknown = false

    /// The origin spoke first, and neither HTTP nor TLS: requests are none of what is spoken with it.
    var isGreeted: Bool {
        guard let first = heard.first else { return false }
        return !mayBeHTTP2 && !Self.resemblesTLS(first) && !heard.starts(with: "HTTP/".utf8.prefix(heard.count))
    }

    /// The byte may begin a record of TLS (RFC 8446 §5.1): servers pass over some before the ClientHello.
    static func resemblesTLS(_ byte: UInt8) -> Bool { (20...24).contains(byte) }

    /// More of what the origin says may be kept.
    var hasRoom: Bool { heard.count <= Self.maxHeard }

    /// Keeps what the origin says where it may still be that.
    mutating func hears(_ bytes: Span<UInt8>) -> Bool {
        heard.append(bytes)
        guard hasRoom else { return false }
        return mayBeHTTP2
    }

    /// What the origin said may begin with a SETTINGS frame of the connection, which acknowledges none. No server has as many
    /// settings as fill 4 KiB.
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
