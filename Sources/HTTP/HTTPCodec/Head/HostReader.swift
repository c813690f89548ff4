import Addresses
import Formats

/// Finds the host in a request target or a Host field. What comes back differs from the normal form in letter case alone,
/// and for an IPv6 address in its spelling.
enum HostReader {
    /// Where a name ends that needs no second look: one of letters, digits, hyphens and dots, none of which begins it or
    /// follows another, that is no longer than a label may be.
    /// - Returns: the place of the first other byte, or the range's end; nil for every other name, which `name` reads.
    @inline(__always)
    static func plainEnd(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) -> Int? {
        var index = lower
        // as if a dot stood before the first byte
        var before: UInt64 = 0x80
        while true {
            guard index &+ ByteWord.count <= bytes.count else { return nil }
            let word = ByteWord(bytes, at: index)
            let outside = word.outsideHosts
            let dots = word.equal(to: Self.dot)
            let repeated = dots & (dots &<< 8 | before)
            // of what lies behind the end, none counts
            if repeated & (outside ^ (outside &- 1)) != 0 { return nil }
            if outside != 0 {
                index &+= outside.trailingZeroBitCount &>> 3
                break
            }
            before = dots &>> 56
            index &+= ByteWord.count
            if index >= upper { break }
        }
        let end = min(index, upper)
        return end > lower && end &- lower <= HostName.maxLabel ? end : nil
    }

    /// The host that ends there, without the dot that may end it.
    @inline(__always)
    static func plainHost(_ bytes: Span<UInt8>, _ lower: Int, _ end: Int) -> ByteRange {
        ByteRange(start: lower, end: bytes[end &- 1] == dot ? end &- 1 : end)
    }

    /// A name or an IPv4 address up to a colon or the end.
    /// - Returns: the host without the dot that may end it, and where reading stopped.
    /// - Throws: `badAuthority`, `userInfoInTarget`, `percentInHost`, `nonASCIIHost`, `emptyLabel`, `hostTooLong`.
    static func name(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int
    ) throws(HTTPFault) -> (host: ByteRange, end: Int) {
        var label = lower
        var end = lower
        while true {
            end = bytes.near(end, upper) { $0.outsideNames }
            guard end < upper, bytes[end] != ASCII.colon else { break }
            if bytes[end] == dot {
                guard end > label else { throw HTTPFault(.emptyLabel, at: end) }
                guard end &- label <= HostName.maxLabel else { throw HTTPFault(.hostTooLong, at: label) }
                label = end &+ 1
            } else if bytes[end] != underscore {
                throw fault(bytes, at: end, upper)
            }
            end &+= 1
        }
        guard end > lower else { throw HTTPFault(.badAuthority, at: lower) }
        let last = label == end ? end &- 1 : end
        guard end &- label <= HostName.maxLabel else { throw HTTPFault(.hostTooLong, at: label) }
        guard last &- lower <= HostName.maxLength else { throw HTTPFault(.hostTooLong, at: lower) }
        return (ByteRange(start: lower, end: last), end)
    }

    /// An IPv6 address in brackets, the first of which is at `lower`.
    /// - Throws: `badAuthority`, `badAddress`.
    static func address(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int
    ) throws(HTTPFault) -> (host: ByteRange, end: Int) {
        var text: [UInt8] = []
        var end = lower + 1
        while end < upper, bytes[end] != 0x5D {
            guard text.count < longestAddress else { throw HTTPFault(.badAddress, at: lower) }
            text.append(bytes[end])
            end += 1
        }
        guard end < upper else { throw HTTPFault(.badAuthority, at: lower) }
        guard let address = IPAddress(String(decoding: text, as: UTF8.self)), address.family == .v6 else {
            throw HTTPFault(.badAddress, at: lower)
        }
        return (ByteRange(start: lower + 1, end: end), end + 1)
    }

    /// `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`
    private static let longestAddress = 45

    private static let dot: UInt8 = 0x2E
    /// Beside letters, digits and hyphen, names in use do hold it. No resolver knows anything else.
    private static let underscore: UInt8 = 0x5F

    private static func fault(_ bytes: Span<UInt8>, at index: Int, _ upper: Int) -> HTTPFault {
        switch bytes[index] {
        case 0x40: return HTTPFault(.userInfoInTarget, at: index)
        case 0x25:
            // a user name may be encoded; name the real cause
            for other in index..<upper where bytes[other] == 0x40 { return HTTPFault(.userInfoInTarget, at: other) }
            return HTTPFault(.percentInHost, at: index)
        case 0x80...: return HTTPFault(.nonASCIIHost, at: index)
        default: return HTTPFault(.badAuthority, at: index)
        }
    }
}
