import Formats
import Testing

@Suite struct Base32Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("MY======", "f"), ("MZXQ====", "fo"), ("MZXW6===", "foo"), ("MZXW6YQ=", "foob"),
        ("MZXW6YTB", "fooba"), ("MZXW6YTBOI======", "foobar"), ("mzxw 6ytb-oi", "foobar"),
    ])
    func decodes(_ text: String, _ expected: String) {
        #expect(Base32.decode(text) == Array(expected.utf8))
    }

    @Test(arguments: ["", "f", "fo", "foo", "foob", "fooba", "foobar"])
    func encodes(_ text: String) {
        let encoded = Base32.encode(text.utf8)
        #expect(Base32.decode(encoded) == Array(text.utf8))
        #expect("MZXW6YTBOI".hasPrefix(encoded.dropLast()))
    }

    @Test(arguments: ["M", "MZX", "MZXW6Y", "0", "1", "8", "MY=A", "M!", "ü"])
    func refuses(_ text: String) {
        #expect(Base32.decode(text) == nil)
    }
}
