import Formats
import TestInputs
import Testing

struct ASCIITests {
    @Test("tchar is what RFC 9110 §5.6.2 lists, and nothing else")
    func token() {
        let listed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max { #expect(ASCII.isToken(byte) == listed.contains(byte)) }
    }

    @Test func classes() {
        for byte in UInt8.min...UInt8.max {
            let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            let isDigit = (0x30...0x39).contains(byte)
            #expect(ASCII.isDigit(byte) == isDigit)
            #expect(ASCII.isAlpha(byte) == isLetter)
            #expect(ASCII.isUnreserved(byte) == (isLetter || isDigit || "-._~".utf8.contains(byte)))
            #expect(ASCII.isFieldValue(byte) == (byte == 0x09 || (byte >= 0x20 && byte != 0x7F)))
            #expect(ASCII.hexValue(byte) == UInt8(String(decoding: [byte], as: UTF8.self), radix: 16))
        }
    }

    @Test func caseFolding() {
        #expect(ASCII.equal("Content-LENGTH", "content-length"))
        #expect(!ASCII.equal("a", "ab"))
        #expect(!ASCII.equal("[", "{"))
        #expect(ASCII.lowercased("\u{C9}A[Z") == "\u{C9}a[z")
    }
}

struct Base64Tests {
    @Test(
        "The examples of RFC 4648 §10, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decode(encoded.replacing("=", with: "")) == Array(plain.utf8))
        #expect(Base64.encode(plain.utf8, urlSafe: true) == encoded.replacing("=", with: ""))
    }

    @Test("Both alphabets are read, one is written")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xBF]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64.encode(bytes, urlSafe: true) == "-_-_")
        #expect(Base64.decode("+/-_") == bytes)
    }

    @Test func everyLength() {
        var random = SplitMix(state: 1)
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encode(bytes, urlSafe: true)) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "A===", "AA=", "=", "====", "AA==AA", "A=A=", "AA A", "AA\n", "AAA!", "Zm9v="])
    func refused(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }
}

struct PercentCodingTests {
    @Test(arguments: [
        ("a b", "a%20b"), ("\u{E9}", "%C3%A9"), ("A-z_.~9", "A-z_.~9"), ("&=+%", "%26%3D%2B%25"), ("", ""),
    ])
    func encoding(_ plain: String, _ encoded: String) {
        #expect(PercentCoding.encode(plain) == encoded)
        #expect(PercentCoding.decode(encoded) == plain)
    }

    @Test(
        "A broken escape stands for itself",
        arguments: [
            ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%4g%41", "%4gA"), ("%%41", "%A"), ("a+b", "a+b"), ("%2b", "+"),
            ("%FF", "\u{FFFD}"),
        ])
    func decoding(_ encoded: String, _ plain: String) {
        #expect(PercentCoding.decode(encoded) == plain)
    }

    @Test func plus() {
        #expect(PercentCoding.decode("a+b%2B", plusAsSpace: true) == "a b+")
    }
}
