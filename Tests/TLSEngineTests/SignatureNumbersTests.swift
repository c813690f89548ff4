import COpenSSL
import TLSEngine
import Testing

/// Signatures as JSON Web Signatures have them.
@Suite struct SignatureNumbersTests {
    /// Many, for numbers that begin with zeros are shorter in DER.
    @Test func theyAre64BytesAndDiffer() throws {
        let key = try PrivateKey.makeP256()
        let point = try #require(key.publicPoint)
        #expect(point.count == 64)
        let made = (0..<600).compactMap { key.es256(Array("message \($0)".utf8)) }
        #expect(made.count == 600 && made.allSatisfy { $0.count == 64 } && Set(made).count == 600)
    }
}
