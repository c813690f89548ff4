import Formats
import HTTPCodec
import TLSEngine
import Testing

@testable import Authorization

/// Proofs: that a code is redeemed by who asked for it, and that a token is sent by who has its key.
@Suite struct TokenProofTests {
    /// RFC 7636, appendix B.
    @Test func aChallengeOfACode() {
        let proof = CodeProof(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(proof.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func aVerifierIsNobodysToGuess() {
        let verifiers = (0..<100).map { _ in CodeProof().verifier }
        #expect(Set(verifiers).count == 100 && verifiers.allSatisfy { $0.utf8.count == 43 })
        #expect(verifiers.allSatisfy { $0.utf8.allSatisfy(ASCII.isUnreserved) })
    }

    /// RFC 7638 §3.1, and the key of RFC 9449 §4.1, whose digest stands in §6.1.
    @Test func digestsOfKeys() {
        let rsa =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
            + "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ"
            + "vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK"
            + "nqDKgw"
        #expect(
            PossessionProof.thumbprint([
                .init("n", .string(rsa)), .init("e", .string("AQAB")), .init("kty", .string("RSA")),
            ]) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(
            PossessionProof.thumbprint([
                .init("kty", .string("EC")), .init("x", .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs")),
                .init("y", .string("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA")), .init("crv", .string("P-256")),
            ]) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    /// RFC 9449 §4.2, with the token and its digest of §7.1.
    @Test func whatAProofSays() throws {
        let key = try PrivateKey.makeP256()
        let head = try RequestHead(method: "GET", url: "https://resource.example.org/protectedresource?a=b")
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
        let proof = try #require(PossessionProof.make(key, for: head, token: token, nonce: "n-1", now: 1_562_262_618))
        let parts = proof.split(separator: ".").map { Base64.decode($0) ?? [] }
        #expect(parts.count == 3 && parts[2].count == 64)
        let header = try JSONValue(parsing: parts[0])
        #expect(header["typ"]?.text == "dpop+jwt" && header["alg"]?.text == "ES256")
        #expect(header["jwk"]?.members?.map(\.name) == ["crv", "kty", "x", "y"])
        let claims = try JSONValue(parsing: parts[1])
        #expect(claims["htm"]?.text == "GET" && claims["htu"]?.text == "https://resource.example.org/protectedresource")
        #expect(claims["iat"]?.integer == 1_562_262_618 && claims["nonce"]?.text == "n-1")
        #expect(claims["ath"]?.text == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        let other = try #require(PossessionProof.make(key, for: head, token: nil, nonce: nil, now: 1))
        let otherClaims = try JSONValue(parsing: Base64.decode(other.split(separator: ".")[1]) ?? [])
        #expect(otherClaims["jti"] != claims["jti"] && otherClaims["ath"] == nil && otherClaims["nonce"] == nil)
    }

    @Test(arguments: [("n-1", "n-1"), ("", nil), ("a b", nil), ("a\"b", nil)] as [(String, String?)])
    func nonces(told: String, taken: String?) {
        var fields = FieldTable()
        fields.add("DPoP-Nonce", told)
        #expect(PossessionProof.nonce(fields) == taken)
    }
}
