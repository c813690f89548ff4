internal import Formats

/// The generator of tokens and ids.
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

    /// 144 random bits in base64url.
    mutating func token() -> String { Base64.encode(bytes(18), urlSafe: true) }

    /// A session token in AM's format. Its stars and dots test that clients and proxies preserve them.
    mutating func sessionToken() -> String { "\(token()).*AAJTSQACMDE.*" }

    /// A version 4 UUID (RFC 9562 §5.4).
    mutating func uuid() -> String {
        UUIDText.random(bytes(16))
    }
}
