import TLSEngine
import Testing

@Suite("Codes and seals")
struct SealingTests {
    /// RFC 4231 §4.3 and RFC 2202 §3 (2).
    @Test(arguments: [
        (MessageCode.Hash.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            .sha512,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        ),
    ])
    func knownCodes(_ hash: MessageCode.Hash, _ expected: String) throws {
        let code = try #require(
            MessageCode.hmac(hash, key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8)))
        #expect(code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }

    /// FIPS 180-4, its example of two blocks.
    @Test func aKnownDigest() {
        let text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        #expect(
            Digest.sha256(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test func anEmptyKeyIsAKey() throws {
        _ = MessageCode.hmac(.sha256, key: [1, 2, 3], [])
        let code = try #require(MessageCode.hmac(.sha256, key: [], []))
        #expect(code.prefix(4) == [0xb6, 0x13, 0x67, 0x9a])
    }

    @Test func whatIsSealedOpensUnderItsNameAlone() throws {
        let sealing = try #require(Sealing(key: try SecretBytes(random: Sealing.keySize)))
        let secret = Array("a refresh token".utf8)
        let sealed = try #require(sealing.seal(secret, name: "shop"))
        #expect(sealed.count == secret.count + 28)
        #expect(sealing.open(sealed, name: "shop") == secret)
        #expect(sealing.open(sealed, name: "other") == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(sealing.open(changed, name: "shop") == nil)
        }
        #expect(sealing.open(Array(sealed.dropLast()), name: "shop") == nil)
        #expect(sealing.open([], name: "shop") == nil)
        #expect(sealing.seal(secret, name: "shop") != sealed)
        let other = try #require(Sealing(key: try SecretBytes(random: Sealing.keySize)))
        #expect(other.open(sealed, name: "shop") == nil)
        let empty = try #require(sealing.seal([], name: ""))
        #expect(sealing.open(empty, name: "") == [])
    }

    @Test func aKeyHasItsSize() throws {
        #expect(Sealing(key: try SecretBytes(random: 16)) == nil)
    }
}
