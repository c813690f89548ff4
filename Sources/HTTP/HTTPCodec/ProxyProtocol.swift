import Addresses
import Formats

/// The header that a balancer puts before a connection's first byte: PROXY protocol, version 1 (text) and 2 (binary), as
/// HAProxy's specification `proxy-protocol.txt` defines them.
public enum ProxyProtocol {
    /// The client's addresses as the balancer saw them.
    public struct Source: Equatable, Sendable {
        /// 4 or 16 bytes, network order.
        public var address: [UInt8]
        public var port: UInt16
    }

    public enum Result: Equatable, Sendable {
        /// The header took so many bytes. No source: the balancer's own connection (health check) or a family that is
        /// not IP.
        case header(bytes: Int, source: Source?)
        case needsMore
        /// These bytes are no such header; where one is required the connection is not to be trusted.
        case invalid
    }

    /// The longest version 1 line, its CRLF included.
    static let maxLine = 107
    /// The most bytes of a version 2 header behind its fixed part, addresses and TLVs included.
    static let maxBinary = 536
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    /// Reads the header at the start of a connection, whole or in pieces: hand over all bytes since the first.
    public static func read(_ bytes: Span<UInt8>) -> Result {
        guard bytes.count > 0 else { return .needsMore }
        if bytes[0] == 0x50 { return readText(bytes) }
        return readBinary(bytes)
    }

    // MARK: version 1

    private static func readText(_ bytes: Span<UInt8>) -> Result {
        let prefix: StaticString = "PROXY "
        for index in 0..<min(bytes.count, prefix.utf8CodeUnitCount) where bytes[index] != prefix.utf8Start[index] {
            return .invalid
        }
        var end = 0
        while end < bytes.count, end < maxLine, bytes[end] != ASCII.cr { end += 1 }
        guard end < maxLine - 1 else { return .invalid }
        guard end + 1 < bytes.count else { return .needsMore }
        guard bytes[end + 1] == ASCII.lf else { return .invalid }
        var line: [UInt8] = []
        line.append(bytes.extracting(prefix.utf8CodeUnitCount..<max(end, prefix.utf8CodeUnitCount)))
        let words = line.split(separator: ASCII.space, omittingEmptySubsequences: false)
        guard let family = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return .invalid }
        if family == "UNKNOWN" { return .header(bytes: end + 2, source: nil) }
        guard family == "TCP4" || family == "TCP6", words.count == 5, let port = port(words[3]),
            self.port(words[4]) != nil
        else { return .invalid }
        let kind = family == "TCP4" ? IPAddress.Family.v4 : .v6
        guard let address = address(words[1], kind), self.address(words[2], kind) != nil else { return .invalid }
        return .header(bytes: end + 2, source: Source(address: address, port: port))
    }

    private static func address(_ text: ArraySlice<UInt8>, _ family: IPAddress.Family) -> [UInt8]? {
        IPAddress(String(decoding: text, as: UTF8.self)).flatMap { $0.family == family ? $0.bytes : nil }
    }

    /// Plain decimal, no leading zero: the specification allows one spelling.
    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.allSatisfy(ASCII.isDigit) else { return nil }
        guard digits.count == 1 || digits.first != 0x30 else { return nil }
        return UInt16(exactly: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }

    // MARK: version 2

    private static func readBinary(_ bytes: Span<UInt8>) -> Result {
        for index in 0..<min(bytes.count, signature.count) where bytes[index] != signature[index] { return .invalid }
        guard bytes.count >= 16 else { return .needsMore }
        guard bytes[12] >> 4 == 2 else { return .invalid }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        guard length <= maxBinary else { return .invalid }
        guard bytes.count >= 16 + length else { return .needsMore }
        switch bytes[12] & 15 {
        case 0: return .header(bytes: 16 + length, source: nil)
        case 1: break
        default: return .invalid
        }
        let size: Int
        switch bytes[13] {
        case 0x11: size = 4
        case 0x21: size = 16
        case 0x00, 0x12, 0x22, 0x31, 0x32: return .header(bytes: 16 + length, source: nil)
        default: return .invalid
        }
        guard length >= 2 * size + 4 else { return .invalid }
        var address: [UInt8] = []
        address.append(bytes.extracting(16..<16 + size))
        let port = UInt16(bytes[16 + 2 * size]) << 8 | UInt16(bytes[17 + 2 * size])
        return .header(bytes: 16 + length, source: Source(address: address, port: port))
    }
}
