import Testing

@testable import HTTPCodec

@Suite("PROXY protocol")
struct ProxyProtocolTests {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    static func binary(_ command: UInt8, _ family: UInt8, _ block: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? block.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 255)] + block
    }

    /// What the first bytes of a connection say, read whole and in every kind of pieces: no prefix may say otherwise.
    private func read(
        _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) -> ProxyProtocol.Result {
        let whole = ProxyProtocol.read(bytes.span)
        for count in 0..<bytes.count {
            let part = ProxyProtocol.read(bytes.span.extracting(first: count))
            switch (part, whole) {
            case (.needsMore, _), (.invalid, .invalid): break
            case (.header(let used, _), .header) where used <= count && part == whole: break
            default: Issue.record("\(count) bytes say \(part), all \(whole)", sourceLocation: sourceLocation)
            }
        }
        return whole
    }

    private func read(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> ProxyProtocol.Result {
        read(Array(text.utf8), sourceLocation: sourceLocation)
    }

    @Test(
        arguments: [
            ("TCP4 192.0.2.1 192.0.2.2 56324 443", [192, 0, 2, 1], UInt16(56324)),
            ("TCP4 255.255.255.255 0.0.0.0 65535 0", [255, 255, 255, 255], 65535),
            ("TCP6 2001:db8::1 ::1 1 2", [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 1),
            ("TCP6 ::ffff:192.0.2.1 ::1 1 2", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1], 1),
            (
                "TCP6 1:2:3:4:5:6:7:8 FFFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535",
                [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8], 65535
            ),
            ("TCP6 1:2:3:4:5:6:7:: 1:: 1 2", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0], 1),
        ] as [(String, [UInt8], UInt16)])
    func textNamesTheClient(_ line: String, _ address: [UInt8], _ port: UInt16) {
        let header = "PROXY \(line)\r\n"
        let expected = ProxyProtocol.Result.header(
            bytes: header.utf8.count, source: .init(address: address, port: port))
        #expect(read(header) == expected)
        #expect(read(header + "GET / HTTP/1.1\r\n") == expected, "what follows is the client's")
    }

    @Test(arguments: ["UNKNOWN", "UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535", "UNKNOWN \u{1}"])
    func textMayNameNobody(_ line: String) {
        #expect(read("PROXY \(line)\r\n") == .header(bytes: line.utf8.count + 8, source: nil))
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXY\r\n", "PROXY \r\n", "proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY  TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n",
        "PROXY TCP4 192.0.2.1  192.0.2.2 1 2\r\n", "PROXY TCP4\t192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 -1 2\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n", "PROXY TCP4 192.0.2.256 192.0.2.2 1 2\r\n",
        "PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n", "PROXY TCP4 192.0.2 192.0.2.2 1 2\r\n",
        "PROXY TCP4 192.0.2.1.1 192.0.2.2 1 2\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP4 192.0.2.1 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1 ::1 1 2\r\n", "PROXY TCP6 ::1 192.0.2.1 1 2\r\n", "PROXY TCP6 :::1 ::1 1 2\r\n",
        "PROXY TCP6 1::2::3 ::1 1 2\r\n", "PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n",
        "PROXY TCP6 1:2:3:4:5:6:7:8:9 ::1 1 2\r\n", "PROXY TCP6 1:2:3:4:5:6:7:8:: ::1 1 2\r\n",
        "PROXY TCP6 12345:: ::1 1 2\r\n", "PROXY TCP6 g:: ::1 1 2\r\n", "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1:: ::1 1 2\r\n", "PROXY TCP6 1:192.0.2.1::2 ::1 1 2\r\n", "PROXY TCP6 [::1] ::1 1 2\r\n",
        "PROXY TCP6 : ::1 1 2\r\n", "PROXY TCP5 ::1 ::1 1 2\r\n", "PROXY UNKNOWNS\r\n",
        "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
    ])
    func textIsTakenInOneSpellingAlone(_ header: String) { #expect(read(header) == .invalid) }

    @Test func theLongestLineIs107Bytes() {
        func line(_ count: Int) -> String { "PROXY UNKNOWN " + String(repeating: "x", count: count - 16) + "\r\n" }
        #expect(read(line(107)) == .header(bytes: 107, source: nil))
        #expect(read(line(108)) == .invalid)
        // no end in sight is no reason to wait for more
        #expect(read(String(line(200).dropLast(2))) == .invalid)
        #expect(read(String(line(107).dropLast(2))) == .needsMore)
    }

    @Test func binaryNamesTheClient() {
        let four: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0xDC, 0x04, 1, 0xBB]
        let header = Self.binary(0x21, 0x11, four)
        let expected = ProxyProtocol.Result.header(
            bytes: 28, source: .init(address: [192, 0, 2, 1], port: 56324))
        #expect(read(header) == expected)
        #expect(read(header + Array("GET / ".utf8)) == expected)
        let address = (0..<16).map { UInt8($0 + 1) }
        #expect(
            read(Self.binary(0x21, 0x21, address + [UInt8](repeating: 9, count: 16) + [0, 80, 0, 81]))
                == .header(bytes: 52, source: .init(address: address, port: 80)))
    }

    @Test func binaryMayHoldMore() {
        let four: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0, 1, 0, 2]
        let more = [UInt8](repeating: 4, count: 536 - 12)
        #expect(
            read(Self.binary(0x21, 0x11, four + more))
                == .header(bytes: 16 + 536, source: .init(address: [192, 0, 2, 1], port: 1)))
        #expect(read(Self.binary(0x21, 0x11, four + more + [4])) == .invalid)
        // told by its length alone, before any of it came
        #expect(read(Self.binary(0x21, 0x11, [], length: 65535)) == .invalid)
    }

    @Test(arguments: [0x00, 0x12, 0x22, 0x31, 0x32] as [UInt8])
    func binaryMayNameNobody(_ family: UInt8) {
        #expect(read(Self.binary(0x21, family, [1, 2, 3])) == .header(bytes: 19, source: nil))
        // LOCAL: the balancer looks whether somebody is there
        #expect(read(Self.binary(0x20, family, [])) == .header(bytes: 16, source: nil))
    }

    @Test(arguments: [
        binary(0x22, 0x11, [UInt8](repeating: 0, count: 12)), binary(0x11, 0x11, [UInt8](repeating: 0, count: 12)),
        binary(0x31, 0x11, [UInt8](repeating: 0, count: 12)), binary(0x21, 0x10, [UInt8](repeating: 0, count: 12)),
        binary(0x21, 0x41, [UInt8](repeating: 0, count: 12)), binary(0x21, 0x11, [UInt8](repeating: 0, count: 11)),
        binary(0x21, 0x21, [UInt8](repeating: 0, count: 35)), binary(0x21, 0x11, []),
        Array(signature.dropLast()) + [0x0B, 0x21, 0x11, 0, 0], [0x0D, 0x0A, 0x0D, 0x0A, 0x01], [0x00], [0x16, 3, 1],
    ])
    func binaryIsTakenInOneFormAlone(_ header: [UInt8]) { #expect(read(header) == .invalid) }

    @Test func nothingIsNotYetAnything() { #expect(ProxyProtocol.read([UInt8]().span) == .needsMore) }
}
