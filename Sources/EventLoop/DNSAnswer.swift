/// The addresses in a DNS response (RFC 1035 §4.1), and for how long they may be kept.
public struct DNSAnswer: Equatable, Sendable {
    /// 4 or 16 bytes each, in the order of the response.
    public var addresses: [[UInt8]] = []
    /// Seconds: the smallest time to live among the records used, aliases included.
    public var timeToLive = UInt32.max

    /// Record types of RFC 1035 §3.2.2 and RFC 3596 §2.1.
    public enum RecordType: UInt16, Sendable {
        case a = 1
        case cname = 5
        case aaaa = 28
    }

    /// Reads a response. Nil when it is cut short, malformed, or says anything but success.
    public init?(_ message: [UInt8], wanted: RecordType) {
        guard message.count >= 12, message[3] & 0x0F == 0, message[2] & 0x80 != 0 else { return nil }
        var reader = Reader(bytes: message)
        reader.position = 4
        guard let questions = reader.word(), let records = reader.word() else { return nil }
        reader.position = 12
        for _ in 0..<questions {
            guard reader.skipName(), reader.skip(4) else { return nil }
        }
        for _ in 0..<records {
            guard reader.skipName(), let type = reader.word(), let family = reader.word(), let high = reader.word(),
                let low = reader.word(), let length = reader.word()
            else { return nil }
            let start = reader.position
            guard reader.skip(Int(length)) else { return nil }
            guard family == 1, let type = RecordType(rawValue: type) else { continue }
            // RFC 2181 §8: a time with its highest bit set is zero
            let time = UInt32(high) << 16 | UInt32(low)
            let lived = time > UInt32(Int32.max) ? 0 : time
            if type == wanted, Int(length) == (wanted == .a ? 4 : 16) {
                addresses.append(Array(message[start..<start + Int(length)]))
                timeToLive = min(timeToLive, lived)
            } else if type == .cname {
                timeToLive = min(timeToLive, lived)
            }
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func word() -> UInt16? {
            guard position + 2 <= bytes.count else { return nil }
            defer { position += 2 }
            return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        }

        mutating func skip(_ count: Int) -> Bool {
            position += count
            return position <= bytes.count
        }

        /// Passes a name: labels until the root, or a pointer that ends it (RFC 1035 §4.1.4). Pointers are not followed.
        mutating func skipName() -> Bool {
            while position < bytes.count {
                let length = bytes[position]
                switch length & 0xC0 {
                case 0xC0: return skip(2)
                case 0 where length == 0: return skip(1)
                case 0: guard skip(1 + Int(length)) else { return false }
                default: return false
                }
            }
            return false
        }
    }
}
