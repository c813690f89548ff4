/// The addresses in a DNS response (RFC 1035 §4.1), and for how long they may be kept.
public struct DNSAnswer: Equatable, Sendable {
    /// The name that was asked for: its labels in lower case, each behind its length.
    public let name: [UInt8]
    /// 4 or 16 bytes each, in the order of the response; none where the name has no record of that type.
    public let addresses: [[UInt8]]
    /// Seconds: the smallest time to live among the records used, aliases included; `UInt32.max` for no addresses.
    public let timeToLive: UInt32

    /// Record types of RFC 1035 §3.2.2 and RFC 3596 §2.1.
    public enum RecordType: UInt16, Sendable {
        case a = 1
        case cname = 5
        case aaaa = 28
    }

    /// Aliases that are followed for one name.
    private static let maxAliases = 16

    public init(name: [UInt8], addresses: [[UInt8]], timeToLive: UInt32) {
        self.name = name
        self.addresses = addresses
        self.timeToLive = timeToLive
    }

    /// Reads a response. Nil when it is cut short, malformed, answers another question, or says anything but success.
    /// Only what the name asked for leads to is taken, by way of its aliases; other records count for nothing.
    public init?(_ message: [UInt8], wanted: RecordType) {
        // a response, whole (no TC), of the standard kind, with success
        guard message.count >= 12, message[2] & 0xFA == 0x80, message[3] & 0x0F == 0 else { return nil }
        var reader = Reader(bytes: message, position: 4)
        guard let questions = reader.word(), let count = reader.word(), questions == 1 else { return nil }
        reader.position = 12
        guard let asked = reader.name(), let type = reader.word(), let family = reader.word(),
            type == wanted.rawValue, family == Self.internet
        else { return nil }
        var addresses: [Record] = []
        var aliases: [Record] = []
        for _ in 0..<count {
            guard let record = reader.record() else { return nil }
            guard record.family == Self.internet else { continue }
            if record.type == wanted.rawValue {
                guard record.data.count == (wanted == .a ? 4 : 16) else { return nil }
                addresses.append(record)
            } else if record.type == RecordType.cname.rawValue {
                aliases.append(record)
            }
        }

        var owner = asked
        var life = UInt32.max
        var followed = 0
        while let alias = aliases.first(where: { $0.owner == owner }) {
            var inside = Reader(bytes: message, position: alias.data.lowerBound)
            followed += 1
            guard followed <= Self.maxAliases, let target = inside.name(), inside.position == alias.data.upperBound
            else { return nil }
            life = min(life, alias.timeToLive)
            owner = target
        }
        let own = addresses.filter { $0.owner == owner }
        name = asked
        self.addresses = own.map { Array(message[$0.data]) }
        timeToLive = own.isEmpty ? .max : own.reduce(life) { min($0, $1.timeToLive) }
    }

    /// The class of records that IP has to do with.
    private static let internet: UInt16 = 1

    private struct Record {
        let owner: [UInt8]
        let type: UInt16
        let family: UInt16
        let timeToLive: UInt32
        let data: Range<Int>
    }

    private struct Reader {
        let bytes: [UInt8]
        var position: Int

        mutating func word() -> UInt16? {
            guard position + 2 <= bytes.count else { return nil }
            defer { position += 2 }
            return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        }

        mutating func record() -> Record? {
            guard let owner = name(), let type = word(), let family = word(), let high = word(), let low = word(),
                let length = word(), position + Int(length) <= bytes.count
            else { return nil }
            defer { position += Int(length) }
            // RFC 2181 §8: a time with its highest bit set is zero
            let time = UInt32(high) << 16 | UInt32(low)
            return Record(
                owner: owner, type: type, family: family, timeToLive: time > UInt32(Int32.max) ? 0 : time,
                data: position..<position + Int(length))
        }

        /// More pointers than a name of 255 octets has use for.
        private static let maxJumps = 128

        /// Reads a name in lower case (RFC 1035 §4.1.4): labels until the root, or a pointer to where the rest stands.
        /// Pointers lead backwards only, so that they come to an end.
        mutating func name() -> [UInt8]? {
            var out: [UInt8] = []
            var place = position
            var limit = position
            var jumps = 0
            while place < bytes.count {
                let length = Int(bytes[place])
                switch length & 0xC0 {
                case 0xC0:
                    guard place + 2 <= bytes.count, jumps < Self.maxJumps else { return nil }
                    if jumps == 0 { position = place + 2 }
                    jumps += 1
                    let target = (length & 0x3F) << 8 | Int(bytes[place + 1])
                    guard target < limit else { return nil }
                    limit = target
                    place = target
                case 0 where length == 0:
                    if jumps == 0 { position = place + 1 }
                    return out
                case 0:
                    // 255 octets are the most that a name may have, the root included (RFC 1035 §2.3.4)
                    guard place + 1 + length <= bytes.count, out.count + 1 + length < 255 else { return nil }
                    out.append(UInt8(length))
                    for byte in bytes[place + 1..<place + 1 + length] {
                        out.append(0x41...0x5A ~= byte ? byte | 0x20 : byte)
                    }
                    place += 1 + length
                default: return nil
                }
            }
            return nil
        }
    }
}
