internal import Formats
internal import TLSEngine

/// Proof Key for Code Exchange: proves that the same client requested and redeems a code (RFC 7636).
struct CodeProof: Equatable, Sendable {
    let verifier: String

    init(verifier: String) { self.verifier = verifier }

    init() { verifier = RandomText.make() }

    /// S256 (RFC 7636 §4.2).
    var challenge: String { Base64.encode(Digest.sha256(Array(verifier.utf8)), urlSafe: true) }
}

/// Unguessable texts.
enum RandomText {
    /// 32 random bytes in 43 characters of base64url.
    static func make() -> String {
        var random = SystemRandomNumberGenerator()
        return Base64.encode((0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &random) }, urlSafe: true)
    }
}
