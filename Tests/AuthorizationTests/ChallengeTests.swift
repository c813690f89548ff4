import Formats
import HTTPCodec
import Testing

@testable import Authorization

@Suite("Challenges")
struct ChallengeTests {
    /// Base64 of `{"TransactionConditionAdvice":["t-1"]}`.
    static let advices = Base64.encode(Array("{\"TransactionConditionAdvice\":[\"t-1\"]}".utf8))

    private func advice(_ lines: String...) -> Advice? {
        readAdvice(401, lines.map { ("WWW-Authenticate", $0) })
    }

    @Test(arguments: [
        "SSOADVICE realm=\"/\",advices=\"A\",am_uri=\"u\"",
        "ssoadvice  am_uri=\"u\" , ADVICES = \"A\" ,\trealm=\"/\"",
        ", ,SSOADVICE realm=\"/\", advices=A, am_uri=\"u\",,",
        "Bearer realm=\"shop\", error=\"x, SSOADVICE advices=no\", SSOADVICE realm=/,advices=A,am_uri=u",
        "Basic, Negotiate, NTLM dGVzdA==, SSOADVICE realm=\"\\/\",advices=\"A\",am_uri=\"u\", Digest nonce=\"n\"",
        "SSOADVICE realm=\"/\",advices=\"A\",am_uri=\"u\", Bearer realm=\"x\"",
    ])
    func spellings(_ line: String) {
        let found = advice(line.replacing("A\"", with: Self.advices + "\"").replacing("=A,", with: "=\(Self.advices),"))
        #expect(found?.transactionId == "t-1")
        #expect(found?.realm == "/")
        #expect(found?.amURI == "u")
    }

    @Test(arguments: [
        "SSOADVICE realm=\"/\",advices=\"A", "SSOADVICE realm=\"/,advices=\"A\"", "SSOADVICE advices=\"A\\",
        "SSOADVICE", "SSOADVICE A", "Bearer advices=\"A\"", "Bearer realm=\"SSOADVICE advices=A\"", "", ",,,", "\"",
        "=",
        "SSOADVICE advices", "SSOADVICE advices=", "SSOADVICE advices=\"\"", "SSOADVICEX advices=\"A\"",
    ])
    func others(_ line: String) {
        #expect(advice(line.replacing("A\"", with: Self.advices + "\"")) == nil)
    }

    @Test func aBrokenChallengeDoesNotHideTheOneOnTheNextLine() {
        let good = "SSOADVICE advices=\"\(Self.advices)\""
        #expect(advice("Bearer realm=\"open", good)?.transactionId == "t-1")
        #expect(advice("SSOADVICE advices=\"####\"", good)?.transactionId == "t-1")
        #expect(advice("SSOADVICE advices=\"####\", \(good)")?.transactionId == "t-1")
    }

    @Test func everyPrefixOfALineIsReadWithoutHarm() {
        let line = "Bearer a=\"\\\"b\", X dGVzdA==, SSOADVICE realm=\"/\",advices=\"\(Self.advices)\",am_uri=\"u\""
        for length in 0...line.utf8.count {
            let list = Challenge.list(String(decoding: line.utf8.prefix(length), as: UTF8.self))
            // a value that was cut off is never taken for the whole
            #expect(list.allSatisfy { [nil, "", Self.advices].contains($0["advices"]) })
        }
    }

    @Test func escapesQuotesAndTokens() {
        let list = Challenge.list("Digest realm=\"a\\\"b\\\\c\", qop=auth , Basic dGVz/+dA==, Plain")
        #expect(list.map(\.scheme) == ["Digest", "Basic", "Plain"])
        #expect(list.first?["realm"] == "a\"b\\c")
        #expect(list.first?["qop"] == "auth")
        #expect(list.dropFirst().first?.token68 == "dGVz/+dA==")
    }
}
