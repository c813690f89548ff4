import Formats
import Testing

/// What is asked of eight bytes at a time is what is asked of each, wherever in a word it stands.
struct ByteWordTests {
    private static let length = 37

    /// Every byte at every place among others that are not looked for.
    private func compare(
        fill: [UInt8], _ mask: (ByteWord) -> UInt64, _ wanted: (UInt8) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for lower in [0, 1, 5, 8] {
            for place in lower..<Self.length {
                for byte in UInt8.min...UInt8.max {
                    var bytes = (0..<Self.length).map { fill[$0 % fill.count] }
                    bytes[place] = byte
                    // one more, so that the first is seen to be the first
                    bytes[Self.length - 1] = byte
                    for upper in [Self.length, max(lower, Self.length - 9)] {
                        let expected = bytes[lower..<upper].firstIndex(where: wanted) ?? upper
                        let found = bytes.span.first(lower, upper, where: mask)
                        if found != expected {
                            Issue.record(
                                "\(byte) at \(place) of \(lower)..<\(upper): \(found)", sourceLocation: sourceLocation)
                        }
                    }
                }
            }
        }
    }

    @Test func controls() {
        compare(fill: [0x20, 0x7E, 0x80, 0xFF, 0x41], \.controls) { $0 < 0x20 || $0 == 0x7F }
    }

    @Test func targets() {
        compare(fill: [0x21, 0x22, 0x24, 0x7E, 0x80, 0xA3, 0xFF], \.outsideTargets) {
            $0 <= 0x20 || $0 == 0x7F || $0 == 0x23
        }
    }

    @Test func textInJSON() {
        compare(fill: [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E, 0x80, 0xA2, 0xDC, 0xFF], \.outsideJSONText) {
            $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F
        }
    }

    @Test func names() {
        compare(fill: Array("azAZ09-m".utf8), \.outsideNames) {
            !ASCII.isAlpha($0) && !ASCII.isDigit($0) && $0 != 0x2D
        }
    }

    @Test func smallNames() {
        compare(fill: Array("az09-m".utf8), \.outsideSmallNames) {
            !(0x61...0x7A).contains($0) && !ASCII.isDigit($0) && $0 != 0x2D
        }
    }

    @Test("What is near is found in spans of any length, from any place on, and in the whole", arguments: 0...20)
    func near(_ count: Int) {
        for place in 0..<max(1, count) {
            var bytes = [UInt8](repeating: 0x61, count: count)
            if place < count { bytes[place] = 0x2F }
            // behind the span stands what is looked for
            let longer = bytes + [UInt8](repeating: 0x2F, count: 8)
            let span = longer.span.extracting(0..<count)
            #expect(span.first { $0.equal(to: 0x2F) } == min(place, count))
            for lower in 0...count {
                for upper in lower...count {
                    let expected = bytes[lower..<upper].firstIndex(of: 0x2F) ?? upper
                    #expect(span.near(lower, upper) { $0.equal(to: 0x2F) } == expected)
                    #expect(span.first(lower, upper) { $0.equal(to: 0x2F) } == expected)
                }
            }
        }
    }

    @Test func hosts() {
        compare(fill: Array("azAZ09-.m".utf8), \.outsideHosts) {
            !ASCII.isAlpha($0) && !ASCII.isDigit($0) && $0 != 0x2D && $0 != 0x2E
        }
    }

    @Test func visible() {
        compare(fill: [0x21, 0x41, 0x7E], \.outsideVisible) { $0 <= 0x20 || $0 >= 0x7F }
    }

    @Test("Small letters of the first bytes, and nothing of the others", arguments: 0...8)
    func lowercased(_ count: Int) {
        for place in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array("aZ9-_@[\u{7F}".utf8)
                bytes[place] = byte
                let expected = bytes.prefix(count).map(ASCII.lower) + [UInt8](repeating: 0, count: 8 - count)
                let (found, wanted) = (ByteWord(bytes.span, at: 0), ByteWord(expected.span, at: 0))
                #expect(found.lowercased(count: count) == wanted, "\(byte) at \(place)")
            }
        }
    }

    @Test("Texts of any length, whatever their case", arguments: 0...20)
    func texts(_ count: Int) {
        let text = Array("abcdefg-.0123456789z".utf8.prefix(count))
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array("..".utf8) + text + Array("..".utf8)
                bytes[2 + place] = byte
                let holds = bytes.span.holds(text: text.span, at: 2)
                #expect(holds == (ASCII.lower(byte) == text[place]), "\(byte) at \(place)")
            }
        }
    }

    @Test func oneByte() {
        for wanted in [0x20, 0x2F, 0x3F, 0x7F, 0x80, 0x00, 0xFF] as [UInt8] {
            compare(fill: [wanted &+ 1, wanted ^ 0x80, wanted ^ 1], { $0.equal(to: wanted) }) { $0 == wanted }
        }
    }

    @Test(arguments: [
        "te", "via", "host", "close", "cookie", "upgrade", "location", "keep-alive", "100-continue",
        "authorization", "proxy-connection", "x-authenticate-response",
    ])
    func words(_ text: String) {
        for place in 0..<text.utf8.count {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array("..\(text)..".utf8)
                bytes[2 + place] = byte
                let equal = bytes[2..<bytes.count - 2].elementsEqual(text.utf8) { ASCII.lower($0) == $1 }
                #expect(holds(text, bytes) == equal, "\(byte) at \(place)")
            }
        }
        #expect(holds(text, Array("..\(text.uppercased())".utf8)) == true)
    }

    /// A word is part of the program, so each has its own line.
    private func holds(_ text: String, _ bytes: [UInt8]) -> Bool? {
        switch text {
        case "te": bytes.span.holds("te", at: 2)
        case "via": bytes.span.holds("via", at: 2)
        case "host": bytes.span.holds("host", at: 2)
        case "close": bytes.span.holds("close", at: 2)
        case "cookie": bytes.span.holds("cookie", at: 2)
        case "upgrade": bytes.span.holds("upgrade", at: 2)
        case "location": bytes.span.holds("location", at: 2)
        case "keep-alive": bytes.span.holds("keep-alive", at: 2)
        case "100-continue": bytes.span.holds("100-continue", at: 2)
        case "authorization": bytes.span.holds("authorization", at: 2)
        case "proxy-connection": bytes.span.holds("proxy-connection", at: 2)
        case "x-authenticate-response": bytes.span.holds("x-authenticate-response", at: 2)
        default: nil
        }
    }

    @Test("Two places are compared to their last byte")
    func places() {
        for count in 0...20 {
            let text = (0..<count).map { UInt8($0) }
            #expect(repeats(text, text))
            for place in 0..<count {
                var other = text
                other[place] ^= 0x20
                #expect(!repeats(text, other))
            }
        }
    }

    private func repeats(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let bytes: [UInt8] = left + [0xFF] + right
        return bytes.span.holds(0, left.count + 1, count: left.count)
    }
}
