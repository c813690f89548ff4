import Formats
import Testing

@testable import Journal

/// Secrets of messages, and what stands in their place.
struct MessageRedactorTests {
    private static func redactor() -> MessageRedactor { MessageRedactor(SecretNames(sessionCookies: ["amSession"])) }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: AliasMark.settled(bytes[...]), as: UTF8.self)
    }

    private static func url(_ text: String, _ redactor: inout MessageRedactor) -> String {
        Self.text(redactor.url(Array(text.utf8)[...], 0))
    }

    private static func fields(_ lines: String, _ redactor: inout MessageRedactor) -> String {
        var out: [UInt8] = []
        for line in lines.split(separator: "\r\n") { redactor.field(Array("\(line)\r\n".utf8)[...], &out) }
        return text(out)
    }

    private static func json(_ text: String, _ redactor: inout MessageRedactor) -> String {
        Self.text(redactor.json(Array(text.utf8), 0)?.bytes ?? Array(text.utf8))
    }

    @Test(
        "Parameters with secret names are redacted",
        arguments: [
            ("https://a.test/p?code=abc&scope=openid", "https://a.test/p?code=code#1&scope=openid"),
            ("/cb#access_token=x.y&state=s&expires_in=9", "/cb#access_token=token#1&state=code#1&expires_in=9"),
            ("/p?a=1", "/p?a=1"), ("/p", "/p"), ("/p?code=", "/p?code="), ("/p?code", "/p?code"),
            ("/p?c%6Fde=1", "/p?c%6Fde=code#1"), ("/p?_txid=7f&x=1", "/p?_txid=transaction#1&x=1"),
            ("https://me:hunter2@a.test/p", "https://me:password#1@a.test/p"), ("/a@b?x=1", "/a@b?x=1"),
            ("/p?CODE=1&code=1", "/p?CODE=code#1&code=code#1"), ("/p?code=1&code=2", "/p?code=code#1&code=code#2"),
        ])
    func urls(_ url: String, _ expected: String) {
        var redactor = Self.redactor()
        #expect(Self.url(url, &redactor) == expected)
    }

    @Test(
        "Fields with secret names are redacted",
        arguments: [
            ("Authorization: Bearer abc.def\r\n", "Authorization: Bearer token#1\r\n"),
            ("authorization:  DPoP  abc \r\n", "authorization:  DPoP token#1 \r\n"),
            ("Proxy-Authorization: Basic dTpw\r\n", "Proxy-Authorization: Basic password#1\r\n"),
            ("Authorization: whole\r\n", "Authorization: secret#1\r\n"),
            (
                "Cookie: amSession=abc; lang=de;other=1; flag\r\n",
                "Cookie: amSession=session#1; lang=de;other=cookie#1; flag\r\n"
            ),
            ("Set-Cookie: amSession=abc; Path=/; code=1\r\n", "Set-Cookie: amSession=session#1; Path=/; code=1\r\n"),
            ("amsession: abc\r\n", "amsession: session#1\r\n"), ("X-TxID: 7f\r\n", "X-TxID: transaction#1\r\n"),
            ("Location: /cb?code=abc&x=1\r\n", "Location: /cb?code=code#1&x=1\r\n"),
            ("Accept: */*\r\nDPoP: abc\r\n", "Accept: */*\r\nDPoP: token#1\r\n"), ("nonsense\r\n", "nonsense\r\n"),
            ("X-Api-Key:\r\n", "X-Api-Key:\r\n"), ("", ""),
        ])
    func fields(_ lines: String, _ expected: String) {
        var redactor = Self.redactor()
        #expect(Self.fields(lines, &redactor) == expected)
    }

    @Test(
        "Transaction ids in an advice are redacted in every encoding",
        arguments: [
            Self.document, PercentCoding.encode(Self.document), Base64.encode(Self.document.utf8),
            Base64.encode(Self.document.utf8, urlSafe: true),
        ])
    func adviceDocuments(_ document: String) {
        var redactor = Self.redactor()
        let url =
            "/am/json/authenticate?authIndexType=composite_advice&authIndexValue=\(PercentCoding.encode(document))"
        let made = Self.text(redactor.aliases.cleared(redactor.url(Array(url.utf8)[...], 0)))
        #expect(!made.contains(Self.transaction) && made.contains("authIndexType=composite_advice"))
        let value = PercentCoding.decode(
            PercentCoding.decode(made.split(separator: "=").dropFirst(2).joined(separator: "=")))
        let read = value.hasPrefix("<") ? value : String(decoding: Base64.decode(value) ?? [], as: UTF8.self)
        #expect(read == Self.document.replacing(Self.transaction, with: "transaction#1"))
        // the same id elsewhere has the same alias
        #expect(Self.url("/p?_txid=\(Self.transaction)", &redactor) == "/p?_txid=transaction#1")
    }

    private static let transaction = "9dae2c80-fe7a-4a36-b57b-4fb1271b0687"
    private static let document =
        "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>\(transaction)</Value>"
        + "</AttributeValuePair><AttributeValuePair><Attribute name=\"Other\"/><Value>plain</Value></AttributeValuePair></Advices>"

    @Test("Transaction ids in a challenge and in a decision are redacted")
    func adviceJSON() {
        var redactor = Self.redactor()
        let decision = #"{"advices":{"TransactionConditionAdvice":["\#(Self.transaction)"],"Other":["plain"]}}"#
        let expected = decision.replacing(Self.transaction, with: "transaction#1")
        #expect(Self.json(decision, &redactor) == expected)
        let challenge = "WWW-Authenticate: SSOADVICE realm=\"/\",advices=\""
        let made = Self.fields("\(challenge)\(Base64.encode(decision.utf8))\"\r\n", &redactor)
        #expect(made == "\(challenge)\(Base64.encode(expected.utf8))\"\r\n")
        #expect(
            Self.fields("WWW-Authenticate: Basic realm=\"x\"\r\n", &redactor)
                == "WWW-Authenticate: Basic realm=\"x\"\r\n")
    }

    @Test(
        "JSON members with secret names are redacted at any depth",
        arguments: [
            (#"{"tokenId":"abc","realm":"/"}"#, #"{"tokenId":"session#1","realm":"/"}"#),
            (#"{ "a" : [ {"access_token": "x"} ] }"#, #"{ "a" : [ {"access_token": "token#1"} ] }"#),
            (#"{"expires_in":1,"access_token":null}"#, #"{"expires_in":1,"access_token":null}"#),
            (#"{"p\u0061ssword":"x"}"#, #"{"p\u0061ssword":"password#1"}"#),
            (#"{"authId":"a.b.c"}"#, #"{"authId":"authId#1"}"#), ("{", "{"), (#""code""#, #""code""#),
        ])
    func json(_ text: String, _ expected: String) {
        var redactor = Self.redactor()
        #expect(Self.json(text, &redactor) == expected)
    }

    @Test("Only answers to callbacks for secrets are redacted")
    func callbacks() {
        var redactor = Self.redactor()
        let text = Self.json(
            #"{"callbacks":[{"type":"NameCallback","output":[{"name":"prompt","value":"User Name"}],"input":[{"name":"IDToken1","value":"demo"}]},"#
                + #"{"input":[{"name":"IDToken2","value":"hunter2"}],"type":"PasswordCallback"},"#
                + #"{"type":"NameCallback","output":[{"name":"prompt","value":"One Time Password"}],"input":[{"name":"IDToken3","value":"123456"}]}]}"#,
            &redactor)
        #expect(text.contains("demo"))
        #expect(text.contains(#""value":"password#1""#) && text.contains(#""value":"one-time#1""#))
        #expect(!text.contains("hunter2") && !text.contains("123456"))
    }

    @Test("A known secret is replaced in every position and encoding")
    func known() {
        var redactor = Self.redactor()
        let session = "Zx9-_*AB/CD+EF=12345"
        _ = Self.fields("amSession: \(session)\r\n", &redactor)
        for (text, expected) in [
            ("of \(session), yes", "of session#1, yes"),
            ("/p/\(PercentCoding.encode(session))/x", "/p/session#1/x"),
            (#"{"a":"Zx9-_*AB\/CD+EF=12345"}"#, #"{"a":"session#1"}"#), ("x\(session)", "x\(session)"),
            ("%3D\(session)", "%3Dsession#1"),
        ] {
            #expect(Self.text(redactor.aliases.cleared(Array(text.utf8))) == expected)
        }
        #expect(
            Self.fields("Cookie: amSession=\(PercentCoding.encode(session))\r\n", &redactor).contains("session#1"))
    }

    @Test("A short or plain word is replaced only under a secret name")
    func plainWords() {
        var redactor = Self.redactor()
        #expect(Self.json(#"{"password":"password"}"#, &redactor) == #"{"password":"password#1"}"#)
        #expect(
            Self.text(redactor.aliases.cleared(Array("the password is the passwordpassword".utf8)))
                == "the password is the passwordpassword")
    }

    @Test("Tokens and sessions are recognised by their form")
    func shapes() {
        var redactor = Self.redactor()
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJl"
        let session = "AQIC5wM2LY4SfczLJgfGZxwRqFlx6pyJsVbV-iXRxRgpXqo.*AAJTSQACMDEAAlNLABM3NjE4.*"
        #expect(
            Self.text(redactor.aliases.cleared(Array("<a x='\(token)'>\(session)".utf8))) == "<a x='token#1'>session#1")
        #expect(Self.text(redactor.aliases.cleared(Array("eyJ.a.b AQIC".utf8))) == "eyJ.a.b AQIC")
    }

    @Test("A secret keeps its alias, and no alias is used twice after many secrets")
    func bounds() {
        var aliases = SecretAliases(most: 100)
        let first = aliases.alias(of: "secret-number-0".utf8, .token)
        #expect(aliases.alias(of: "secret-number-0".utf8, .token) == first)
        var seen: Set<SecretAlias> = [first]
        for number in 1...1000 {
            #expect(seen.insert(aliases.alias(of: "secret-number-\(number)".utf8, .token)).inserted)
        }
        #expect(aliases.alias(of: "secret-number-1000".utf8, .token).number == 1001)
        #expect(aliases.alias(of: "secret-number-0".utf8, .token).number == 1002)
    }
}
