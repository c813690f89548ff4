/// The protocol that the client's first bytes in a tunnel show.
enum TunnelProtocol {
    /// `connect`: the one method that is forbidden in a tunnel.
    case http, http2, connect, other, undecided

    private static let methods: [StaticString] = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ",
    ]

    /// Plain HTTP/1 begins with a method and a space, HTTP/2 with its preface; TLS and everything else do not.
    static func recognise(_ bytes: Span<UInt8>) -> TunnelProtocol {
        var mayBecome = false
        for method in methods {
            let length = min(bytes.count, method.utf8CodeUnitCount)
            var same = true
            for index in 0..<length where bytes[index] != method.utf8Start[index] {
                same = false
                break
            }
            guard same else { continue }
            if length == method.utf8CodeUnitCount { return method.utf8Start[0] == 0x43 ? .connect : .http }
            mayBecome = true
        }
        switch HTTP2Preface(bytes) {
        case .present: return .http2
        case .undecided: return .undecided
        case .absent: return mayBecome ? .undecided : .other
        }
    }

    /// Whether the byte may begin a TLS record (RFC 8446 §5.1): servers skip some records before the ClientHello.
    static func mayBeTLS(_ byte: UInt8) -> Bool { (20...24).contains(byte) }
}
