internal import Glibc
internal import HTTPCodec

/// Wall-clock time as text (RFC 3339, UTC, milliseconds). The text of the current second is cached, since most lines share
/// it.
struct Timestamp {
    private var second = -1
    private var text: [UInt8] = []

    /// The most bytes of a timestamp, for any year.
    static let room = 64

    mutating func append(_ time: timespec, to out: inout [UInt8]) {
        out.append(addingCapacity: Self.room) { append(time, to: &$0) }
    }

    mutating func append(_ time: timespec, to out: inout OutputSpan<UInt8>) {
        if time.tv_sec != second {
            second = time.tv_sec
            text = Timestamp.format(time.tv_sec)
        }
        out.append(text.span)
        let millisecond = time.tv_nsec / 1_000_000
        out.append(0x30 &+ UInt8(truncatingIfNeeded: millisecond / 100))
        out.append(0x30 &+ UInt8(truncatingIfNeeded: millisecond / 10 % 10))
        out.append(0x30 &+ UInt8(truncatingIfNeeded: millisecond % 10))
        out.append(0x5A)
    }

    private static func format(_ second: Int) -> [UInt8] {
        var seconds = second
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return Array(
            "\(1900 + parts.tm_year)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))."
                .utf8)
    }
}
