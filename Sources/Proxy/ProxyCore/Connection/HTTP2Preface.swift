/// The connection preface of a client that begins HTTP/2 with prior knowledge (RFC 9113 §3.3, §3.4).
enum HTTP2Preface {
    case present, absent, undecided

    private static let bytes: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    init(_ input: Span<UInt8>) {
        let count = min(input.count, Self.bytes.utf8CodeUnitCount)
        for index in 0..<count where input[index] != Self.bytes.utf8Start[index] {
            self = .absent
            return
        }
        self = count == Self.bytes.utf8CodeUnitCount ? .present : .undecided
    }
}
