internal import Formats
internal import HTTPCodec

/// Where all tokens and ids come from.
struct TokenSource: Sendable {
    private var generator: any RandomNumberGenerator & Sendable

    init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = generator
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var out: [UInt8] = []
        while out.count < count {
            var word = generator.next()
            for _ in 0..<8 where out.count < count {
                out.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return out
    }

    /// 144 random bits in the URL-safe alphabet.
    mutating func token() -> String { Base64.encode(bytes(18), urlSafe: true) }

    /// A session token in AM's spelling: stars and dots must survive whoever carries it.
    mutating func sessionToken() -> String { "\(token()).*AAJTSQACMDE.*" }

    /// A version 4 UUID (RFC 9562 §5.4).
    mutating func uuid() -> String {
        var octets = bytes(16)
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        var out: [UInt8] = []
        for (index, octet) in octets.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { out.append(0x2D) }
            out.append(PercentCoding.hexDigit(octet >> 4))
            out.append(PercentCoding.hexDigit(octet & 15))
        }
        return ASCII.lowercased(String(decoding: out, as: UTF8.self))
    }
}
