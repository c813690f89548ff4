internal import Formats
internal import Glibc
internal import HTTPCodec
internal import Interception

/// Writes Apache's Common Log Format (`%h %l %u %t "%r" %>s %b`) and the combined format, which adds `"%{Referer}i"
/// "%{User-Agent}i"`.
struct CommonLogLine {
    private var second = -1
    private var time: [UInt8] = []

    /// - Parameter began: seconds since 1970.
    mutating func append(_ record: borrowing ExchangeRecord, began: Int, isCombined: Bool, to out: inout [UInt8]) {
        append(host: record.client, to: &out)
        out.append(literal: " - ")
        if let user = record.user, !user.isEmpty { Self.append(Array(user.utf8), to: &out) } else { out.append(0x2D) }
        append(time: began, to: &out)
        out.append(0x22)
        if record.method.isEmpty { out.append(0x2D) } else { Self.append(record.method, to: &out) }
        if !record.url.isEmpty {
            out.append(0x20)
            Self.append(record.url, to: &out)
            out.append(ASCII.space)
            out.append(literal: record.version.text)
        }
        out.append(literal: "\" ")
        if record.status > 0 { out.append(decimal: UInt64(record.status)) } else { out.append(0x2D) }
        out.append(0x20)
        if record.responseBytes > 0 { out.append(decimal: record.responseBytes) } else { out.append(0x2D) }
        if isCombined {
            Self.append(field: record.provenance?.referer ?? [], to: &out)
            Self.append(field: record.provenance?.userAgent ?? [], to: &out)
        }
    }

    /// Writes the address without its port.
    private func append(host client: String, to out: inout [UInt8]) {
        var text = client[...]
        if let colon = text.lastIndex(of: ":"), text.hasPrefix("[") || text.firstIndex(of: ":") == colon {
            text = text[..<colon]
        }
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        out.append(contentsOf: (text.isEmpty ? "-" : text).utf8)
    }

    private static func append(field: [UInt8], to out: inout [UInt8]) {
        out.append(literal: " \"")
        if field.isEmpty { out.append(0x2D) } else { append(field, to: &out) }
        out.append(0x22)
    }

    /// Escapes like Apache: a backslash before quotes and backslashes; other bytes than printable ASCII in hexadecimal or
    /// by their C escape.
    private static func append(_ bytes: [UInt8], to out: inout [UInt8]) {
        for byte in bytes {
            switch byte {
            case 0x22, 0x5C: out += [0x5C, byte]
            case 0x08: out.append(literal: "\\b")
            case 0x09: out.append(literal: "\\t")
            case 0x0A: out.append(literal: "\\n")
            case 0x0B: out.append(literal: "\\v")
            case 0x0C: out.append(literal: "\\f")
            case 0x0D: out.append(literal: "\\r")
            case 0x20..<0x7F: out.append(byte)
            default:
                let digits: StaticString = "0123456789abcdef"
                out.append(literal: "\\x")
                out.append(digits.utf8Start[Int(byte >> 4)])
                out.append(digits.utf8Start[Int(byte & 15)])
            }
        }
    }

    // MARK: the time

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Writes ` [10/Oct/2000:13:55:36 -0700] ` in local time.
    private mutating func append(time began: Int, to out: inout [UInt8]) {
        if began != second {
            second = began
            var seconds = began
            var parts = tm()
            localtime_r(&seconds, &parts)
            time = Self.format(parts)
        }
        out.append(contentsOf: time)
    }

    private static func format(_ parts: tm) -> [UInt8] {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let month = months.indices.contains(Int(parts.tm_mon)) ? months[Int(parts.tm_mon)] : "-"
        let offset = Int(parts.tm_gmtoff) / 60
        let zone = "\(offset < 0 ? "-" : "+")\(two(abs(offset) / 60))\(two(abs(offset) % 60))"
        let day = "\(two(Int(parts.tm_mday)))/\(month)/\(1900 + Int(parts.tm_year))"
        let clock = "\(two(Int(parts.tm_hour))):\(two(Int(parts.tm_min))):\(two(Int(parts.tm_sec)))"
        return Array(" [\(day):\(clock) \(zone)] ".utf8)
    }
}
