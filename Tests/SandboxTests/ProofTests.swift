import Formats
import TLSEngine
import Testing

@testable import Sandbox

/// Proofs of possession (RFC 9449). Requests with proofs of many kinds are sent to the built sandbox by other tests.
@Suite struct ProofTests {
    /// RFC 9449 §4.1.
    static let header =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscE"
        + "JoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"
    static let claims =
        "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaW"
        + "F0IjoxNTYyMjYyNjE2fQ"
    static let signature = "2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
    static let proof = "\(header).\(claims).\(signature)"

    @Test func theProofOfTheStandard() throws {
        let proof = try DPoPProof(Self.proof)
        #expect(proof.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(proof.id == "-BwC3ESc6acc2lTc")
        let url = "https://server.example.com/token"
        try proof.check(method: "POST", url: url, token: nil, now: 1_562_262_616 + DPoPProof.tolerance)
        func words(_ method: String, _ url: String, _ token: String?, _ late: Int) -> String {
            do throws(DPoPProof.Fault) {
                try proof.check(method: method, url: url, token: token, now: 1_562_262_616 + late)
                return ""
            } catch {
                return error.words
            }
        }
        #expect(words("GET", url, nil, 0) == "htm is not GET")
        #expect(words("POST", url + "/x", nil, 0) == "htu is not \(url)/x")
        #expect(words("POST", url, nil, DPoPProof.tolerance + 1) == "iat is too far from the present")
        #expect(words("POST", url, "token", 0) == "ath does not match the access token")
    }

    @Test func whatIsNoProof() {
        func words(_ text: String) -> String {
            do throws(DPoPProof.Fault) {
                _ = try DPoPProof(text)
                return ""
            } catch {
                return error.words
            }
        }
        func part(_ json: String) -> String { Base64.encode(Array(json.utf8), urlSafe: true) }
        #expect(words("x") == "the proof is not a signed JWT")
        #expect(words("\(part("{\"typ\":\"JWT\"}")).\(Self.claims).\(Self.signature)") == "typ is not dpop+jwt")
        let other = part("{\"typ\":\"dpop+jwt\",\"alg\":\"none\"}")
        #expect(words("\(other).\(Self.claims).\(Self.signature)") == "alg is not ES256")
        let keyless = part("{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\"}}")
        #expect(words("\(keyless).\(Self.claims).\(Self.signature)") == "jwk is not a P-256 key")
        let changed = part("{\"jti\":\"a\",\"htm\":\"GET\",\"htu\":\"http://a/\",\"iat\":1}")
        #expect(words("\(Self.header).\(changed).\(Self.signature)") == "the signature does not match the key")
    }

    @Test func pointsBesideTheCurve() {
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(P256PublicKey(x: zero, y: [UInt8](repeating: 1, count: 32)) == nil)
        #expect(P256PublicKey(x: [], y: zero) == nil)
    }

    @Test func aProofMayBeDemanded() throws {
        var options = SandboxOptions()
        options.proofs = .nonce
        var world = World(options)
        let body = "grant_type=client_credentials&client_id=service&client_secret=changeit"
        let path = "\(OAuthTests.path)/access_token"
        let bare = try world.send("POST", path, fields: OAuthTests.form, body: body)
        #expect(try world.json(bare)["error"]?.text == "invalid_dpop_proof")
        let nonce = try #require(bare["DPoP-Nonce"])
        #expect(nonce == world.server.am.oauth.proofs.nonce(world.now))
        world.now += 60
        #expect(nonce == world.server.am.oauth.proofs.nonce(world.now, back: 1))
        #expect(nonce != world.server.am.oauth.proofs.nonce(world.now))
        let two = OAuthTests.form + [("DPoP", Self.proof), ("DPoP", Self.proof)]
        #expect(try world.send("POST", path, fields: two, body: body).status == 400)
        let resource = try world.send("GET", "/api/x")
        #expect(resource["WWW-Authenticate"] == "DPoP realm=\"/\",algs=\"ES256\"")
    }
}
