import HTTPCodec

/// Keeps secrets out of what is recorded (am-ig-server.md §14.7).
enum Redaction {
    /// Query parameters whose values are credentials, or as good as.
    private static let secretParameters: Set<String> = [
        "_txid", "_idtoken", "authindexvalue", "code", "state", "id_token_hint", "access_token", "refresh_token",
        "token",
        "suspendedid", "sessionupgradessotokenid", "tokenid", "password", "client_secret", "csrf", "samlresponse",
        "relaystate", "goto", "request",
    ]

    /// Appends the request's URL as the client asked for it, with the values of secret parameters replaced.
    /// - Parameter name: a parameter that is secret beside the usual ones.
    static func appendURL(of head: borrowing RequestHead, hiding name: String? = nil, to out: inout [UInt8]) {
        let target = head.target
        head.fields.bytes.withUnsafeBufferPointer { bytes in
            func append(_ range: ByteRange) {
                out.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range.indices]))
            }
            if target.form == .authority { return append(target.authority) }
            out.append(literal: target.scheme == .http ? "http://" : "https://")
            append(target.authority)
            append(target.path)
            guard let query = target.query else { return }
            out.append(0x3F)
            var start = query.lower
            while start <= query.upper {
                var end = start
                while end < query.upper, bytes[end] != 0x26 { end += 1 }
                var equals = start
                while equals < end, bytes[equals] != 0x3D { equals += 1 }
                append(ByteRange(start: start, end: equals))
                if equals < end {
                    out.append(0x3D)
                    if isSecret(UnsafeBufferPointer(rebasing: bytes[start..<equals]), name) {
                        out.append(literal: "REDACTED")
                    } else {
                        append(ByteRange(start: equals + 1, end: end))
                    }
                }
                if end < query.upper { out.append(0x26) }
                start = end + 1
            }
        }
    }

    private static func isSecret(_ name: UnsafeBufferPointer<UInt8>, _ other: String?) -> Bool {
        let decoded = PercentCoding.decodeBytes(name, plusAsSpace: true).map(ASCII.lower)
        let text = String(decoding: decoded, as: UTF8.self)
        return secretParameters.contains(text) || other.map(ASCII.lowercased) == text
    }

    /// The same for a URL of Usher's own calls.
    static func url(of head: borrowing RequestHead, hiding name: String? = nil) -> String {
        var out: [UInt8] = []
        appendURL(of: head, hiding: name, to: &out)
        return String(decoding: out, as: UTF8.self)
    }
}
