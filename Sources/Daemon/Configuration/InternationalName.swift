internal import CIDN2

/// Converts internationalized host names to ASCII: `münchen.example` becomes `xn--mnchen-3ya.example` (IDNA 2008, RFC 5891). It
/// is used for configurations only. Names in messages must be ASCII already; an A-label stays as it is.
public enum InternationalName {
    public struct Fault: Error {
        /// Completes "the host …".
        public let words: String
    }

    /// Converts a host or a host glob, with or without a port.
    public static func ascii(host: String) throws(Fault) -> String {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        var out = ""
        var label = ""
        for scalar in host.unicodeScalars {
            switch scalar {
            // the full stops of other scripts (RFC 3490 §3.1)
            case ".", "\u{3002}", "\u{FF0E}", "\u{FF61}":
                out += try ascii(label: label) + "."
                label = ""
            case ":":
                out += try ascii(label: label) + ":"
                label = ""
            default: label.unicodeScalars.append(scalar)
            }
        }
        return out + (try ascii(label: label))
    }

    /// Converts the host of a URL or URL glob, and nothing else.
    public static func ascii(url: String) throws(Fault) -> String {
        guard !url.utf8.allSatisfy({ $0 < 0x80 }), let mark = url.firstRange(of: "://") else { return url }
        let end = url[mark.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let authority = url[mark.upperBound..<end]
        // the part before an @ is a name and a password
        let start = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        return "\(url[..<start])\(try ascii(host: String(url[start..<end])))\(url[end...])"
    }

    private static func ascii(label: String) throws(Fault) -> String {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return label }
        guard !label.contains("*") else {
            throw Fault(
                words:
                    "has a label with a star and non-ASCII characters; use the star as a label of its own")
        }
        // the C library stops at a null, which would drop the rest
        guard !label.utf8.contains(0) else { throw Fault(words: "has a null character") }
        let source = Array(label.utf8) + [0]
        var name: UnsafeMutablePointer<UInt8>?
        let code = idn2_lookup_u8(source, &name, CInt(usher_idn2_flags))
        defer { idn2_free(name) }
        guard code == usher_idn2_ok, let name else {
            let why = idn2_strerror(code).map { String(cString: $0) } ?? "error \(code)"
            throw Fault(words: "has no valid ASCII form for DNS (IDNA): \(why)")
        }
        return String(cString: name)
    }
}
