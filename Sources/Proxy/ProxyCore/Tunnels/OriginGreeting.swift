import Formats

/// The first bytes of an origin that speaks before its client. They may begin HTTP/2 (RFC 9113 §3.4): its server need not
/// wait for the client.
struct OriginGreeting {
    private(set) var bytes: [UInt8] = []

    private static let maxBytes = 16 << 10

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether more bytes may be kept.
    var hasRoom: Bool { bytes.count <= Self.maxBytes }

    /// Whether the origin spoke first, and neither HTTP nor TLS. Such a protocol carries no HTTP requests.
    var isForeign: Bool {
        guard let first = bytes.first else { return false }
        return !mayBeHTTP2 && !TunnelProtocol.mayBeTLS(first) && !bytes.starts(with: "HTTP/".utf8.prefix(bytes.count))
    }

    /// Keeps further bytes.
    /// - Returns: whether they may begin HTTP/2.
    mutating func hears(_ more: Span<UInt8>) -> Bool {
        bytes.append(more)
        guard hasRoom else { return false }
        return mayBeHTTP2
    }

    /// Whether the bytes may begin with a SETTINGS frame on stream 0 without ACK. No server sends 4 KiB of settings.
    private var mayBeHTTP2: Bool {
        let isFrame = bytes.prefix(9).enumerated().allSatisfy { index, byte in
            switch index {
            case 0: byte == 0
            case 1: byte < 0x10
            case 2: true
            case 3: byte == 4
            default: byte == 0
            }
        }
        return isFrame && (bytes.count < 3 || (Int(bytes[1]) << 8 | Int(bytes[2])) % 6 == 0)
    }
}
