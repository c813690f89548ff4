import Formats

/// A path in the one spelling that all spellings of it share, for comparisons (RFC 3986 §6.2.2): printable characters stand
/// for themselves, other escapes are in capitals, `.` and `..` are resolved, and several slashes in a row are one. What
/// separates the parts of a URL stays encoded, so that `%2F` is no slash.
public enum NormalPath {
    /// False where the path is in its normal form for sure. Allocates nothing.
    public static func mayDiffer(_ bytes: Span<UInt8>, _ range: ByteRange) -> Bool {
        var index = range.lower
        while true {
            index = bytes.first(index, range.upper) { $0.equal(to: 0x2F) | $0.equal(to: 0x25) | $0.outsideVisible }
            guard index < range.upper else { return false }
            guard bytes[index] == 0x2F else { return true }
            index += 1
            if index < range.upper, bytes[index] == 0x2F || bytes[index] == 0x2E { return true }
        }
    }

    public static func of(_ path: some Collection<UInt8>) -> [UInt8] { PathReading.merged.applied(to: spelled(path)) }

    private static func spelled(_ path: some Collection<UInt8>) -> [UInt8] {
        let path = Array(path)
        var out: [UInt8] = []
        out.reserveCapacity(path.count)
        var index = 0
        while index < path.count {
            if let byte = PathReading.escape(path, index) {
                if standsForItself(byte) { out.append(byte) } else { append(byte, to: &out) }
                index += 3
                continue
            }
            let byte = path[index]
            if byte > 0x20, byte < 0x7F { out.append(byte) } else { append(byte, to: &out) }
            index += 1
        }
        return out
    }

    private static func append(_ byte: UInt8, to out: inout [UInt8]) {
        out += [0x25, PercentCoding.hexDigit(byte >> 4), PercentCoding.hexDigit(byte & 15)]
    }

    /// Whether a byte means the same with and without encoding. A star is a wildcard in globs.
    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"/;?#%*\\".utf8.contains(byte)
    }
}
