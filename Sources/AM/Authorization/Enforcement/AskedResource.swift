internal import Formats
internal import HTTPCodec

/// The resource name in questions to AM: the request's URL in normal form (RFC 3986 §6.2.2). An ambiguous URL has no name,
/// because AM might decide on one reading and the server act on another.
enum AskedResource {
    /// The reason why a request has no name, as one sentence.
    struct Refusal: Error, Equatable {
        var reason: String
    }

    /// - Parameters:
    /// - withoutQuery: true if the query is not part of the resource.
    /// - own: a query parameter that is not part of the resource.
    static func name(
        of head: RequestHead, withoutQuery: Bool, except own: String?
    ) throws(Refusal) -> String {
        var name = head.originText + (try path(of: head))
        guard !withoutQuery, let written = head.query, !written.isEmpty else { return name }
        var query = QueryText(try ascii(head.fields.bytes[(head.target.query ?? .empty).indices]))
        if let own {
            // some readers split at a semicolon too, so text after it would belong to the resource
            if query.pairs.contains(where: { QueryText.name($0) == own && $0.utf8.contains(0x3B) }) {
                throw Refusal(reason: "its query has a semicolon in \(own), which servers read in more than one way")
            }
            query.removeAll { $0 == own }
        }
        if !query.isEmpty { name += "?\(query.text)" }
        return name
    }

    private static func path(of head: RequestHead) throws(Refusal) -> String {
        let written = head.fields.bytes[head.target.path.indices]
        guard written.first == 0x2F else {
            guard written.isEmpty else { throw ambiguous("does not begin with a slash") }
            return "/"
        }
        var decoded: [UInt8] = []
        var out: [UInt8] = []
        var index = written.startIndex
        while index < written.endIndex {
            var byte = written[index]
            var isEncoded = false
            if byte == 0x25 {
                guard index + 2 < written.endIndex, let high = ASCII.hexValue(written[index + 1]),
                    let low = ASCII.hexValue(written[index + 2])
                else { throw ambiguous("has a percent sign with no two digits behind it") }
                byte = high << 4 | low
                isEncoded = true
            }
            if let fault = fault(byte, isEncoded: isEncoded, after: decoded.last) { throw ambiguous(fault) }
            decoded.append(byte)
            if isPlain(byte) {
                out.append(byte)
            } else {
                out += [0x25, PercentCoding.hexDigit(byte >> 4), PercentCoding.hexDigit(byte & 15)]
            }
            index += isEncoded ? 3 : 1
        }
        // lenient readers accept invalid UTF-8: they read %C0%AE as a dot
        guard String(validating: decoded, as: UTF8.self) != nil else { throw ambiguous("has bytes that are not UTF-8") }
        for segment in decoded.split(separator: 0x2F)
        where segment.elementsEqual([0x2E]) || segment.elementsEqual([0x2E, 0x2E]) {
            throw ambiguous("has a segment . or ..")
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func fault(_ byte: UInt8, isEncoded: Bool, after last: UInt8?) -> String? {
        switch byte {
        case 0x2F: isEncoded ? "has an encoded slash" : last == 0x2F ? "has an empty segment" : nil
        case 0x5C: "has a backslash"
        case 0x3B: "has a semicolon"
        case 0x3F: "has an encoded question mark (%3F)"
        case 0x23: "has a number sign (%23)"
        case 0x25: "is encoded twice"
        case 0x2E: isEncoded ? "has an encoded dot" : nil
        case ..<0x20, 0x7F: "has a control character"
        default: nil
        }
    }

    private static func ambiguous(_ what: String) -> Refusal {
        Refusal(
            reason:
                "its path \(what), which servers read in more than one way: AM might decide on another resource than the one that is reached"
        )
    }

    /// Whether a path may contain the byte unencoded: the characters of a segment (RFC 3986 §3.3) and the slash.
    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isUnreserved(byte) || "!$&'()*+,=:@/".utf8.contains(byte)
    }

    /// The query with bytes that are invalid in a URL percent-encoded.
    private static func ascii(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> String {
        var out: [UInt8] = []
        for byte in bytes {
            if byte > 0x20, byte < 0x7F {
                out.append(byte)
            } else {
                out += [0x25, PercentCoding.hexDigit(byte >> 4), PercentCoding.hexDigit(byte & 15)]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
