import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// What of a request stands in the log.
@Suite("Redaction")
struct RedactionTests {
    private func url(_ target: String, _ settings: Settings = Settings()) -> String {
        let talk = Conversation(settings)
        talk.client("GET \(target) HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.driver.dialFails(.timedOut)
        return talk.record.urlText
    }

    @Test(
        "Values of names that may be secret are redacted",
        arguments: [
            "iPlanetDirectoryPro", "ssoToken", "authId", "id_token", "client_assertion", "assertion", "subject_token",
            "device_code", "code_verifier", "X-TxID", "X-Amz-Signature", "api_key", "pw", "pwd", "passwd",
            "sunamcompositeadvice", "_txid", "_idtoken", "authIndexValue", "code", "state", "id_token_hint",
            "access_token", "refresh_token", "token", "suspendedId", "sessionUpgradeSSOTokenId", "tokenId", "password",
            "client_secret", "csrf", "SAMLResponse", "RelayState", "goto", "request", "nobodyKnowsThisName", "realms",
        ])
    func secretNames(_ name: String) {
        for mark in ["&", ";"] {
            #expect(
                url("http://a.test/p?page=1\(mark)\(name)=s3cret\(mark)limit=2")
                    == "http://a.test/p?page=1\(mark)\(name)=REDACTED\(mark)limit=2")
        }
        #expect(url("http://a.test/p;\(name)=s3cret/q") == "http://a.test/p;\(name)=REDACTED/q")
        #expect(url("http://a.test?\(name)=s3cret") == "http://a.test?\(name)=REDACTED")
    }

    @Test(arguments: [
        ("a.test/p?", "a.test/p?"), ("a.test/code=x", "a.test/code=x"),
        ("a.test/p?token=a=b&&x&=y&", "a.test/p?token=REDACTED&&REDACTED&=REDACTED&"),
        ("a.test/p?_TxId=x&page=", "a.test/p?_TxId=REDACTED&page="),
        ("a.test/p?c2VjcmV0c2VjcmU=", "a.test/p?REDACTED="),
        ("a.test/p?pw=&redirect_uri=&authIndexType=&x-y=1", "a.test/p?pw=&redirect_uri=&authIndexType=&x-y=REDACTED"),
        (
            "a.test/p?cGFzc3dvcmQ=&aB=&QUJD=&a1=&abc==",
            "a.test/p?REDACTED=&REDACTED=&REDACTED=&REDACTED=&REDACTED=REDACTED"
        ),
        ("a.test/p?\(String(repeating: "x", count: 32))=", "a.test/p?\(String(repeating: "x", count: 32))="),
        ("a.test/p?\(String(repeating: "x", count: 33))=", "a.test/p?REDACTED="),
        ("a.test/p?c2VjcmV0c2VjcmV0IQ==&page=1", "a.test/p?REDACTED=REDACTED&page=1"),
        ("a.test/p?page=1;c2VjcmV0=;=", "a.test/p?page=1;REDACTED=;="),
        ("a.test/p;c2VjcmV0=/q;c2VjcmV0==", "a.test/p;REDACTED=/q;REDACTED=REDACTED"),
        ("a.test/p?a%5Bb%5D=x&$c:d@e=y&f[g].h~=z", "a.test/p?a%5Bb%5D=REDACTED&$c:d@e=REDACTED&f[g].h~=REDACTED"),
        ("a.test/p?{\"pw\":\"a=b\"}&the+secret+is=x", "a.test/p?REDACTED=REDACTED&REDACTED=REDACTED"),
        ("a.test/p?c2Vj/cmV0=x&c2Vj%2FcmV0=x&a%2=x", "a.test/p?REDACTED=REDACTED&REDACTED=REDACTED&REDACTED=REDACTED"),
        ("a.test/p?%63ode=x", "a.test/p?%63ode=REDACTED"),
        ("a.test/p?s3cret", "a.test/p?REDACTED"), ("a.test/p?page", "a.test/p?page"),
        ("a.test/p;tokenId/q?secret&pass-word;letmein", "a.test/p;REDACTED/q?REDACTED&REDACTED;REDACTED"),
        ("a.test/p?REALM=/alpha&r%65alm=%2Fb", "a.test/p?REALM=/alpha&r%65alm=%2Fb"),
        ("a.test/p;jsessionid=x;v=1/..;/q", "a.test/p;jsessionid=REDACTED;v=1/..;/q"),
        (
            "a.test/p?redirect_uri=https://b.test/cb?code=x&page=1",
            "a.test/p?redirect_uri=https://b.test/cbREDACTED&page=1"
        ),
        (
            "a.test/p?redirect_uri=https%3A%2F%2Fb.test%2Fcb%3Fcode%3Dx",
            "a.test/p?redirect_uri=https%3A%2F%2Fb.test%2FcbREDACTED"
        ),
        ("a.test/p?redirect_uri=app%3A%2F%2Fcb%23code", "a.test/p?redirect_uri=app%3A%2F%2FcbREDACTED"),
        ("a.test/p?redirect_uri=https%253A%252F%252Fb.test%253Fcode", "a.test/p?redirect_uri=httpsREDACTED"),
        ("a.test/p?redirect_uri=https://u:pw@b.test/", "a.test/p?redirect_uri=REDACTED"),
        ("a.test/p?redirect_uri=https%3A%2F%2Fu%3Apw%40b.test", "a.test/p?redirect_uri=REDACTED"),
        ("a.test/p?v=\(String(repeating: "x", count: 129))", "a.test/p?v=REDACTED"),
        ("a.test/p?\(String(repeating: "x", count: 65))=1", "a.test/p?REDACTED=REDACTED"),
        ("a.test/a\"b?page=\"", "a.test/a\"b?page=\""),
        ("a.test/am/json/sessions/AQIC5w.*AAJT*?_action=x", "a.test/am/json/sessions/REDACTED?_action=x"),
        ("a.test/json/realms/root/sessions/t;x=1/y", "a.test/json/realms/root/sessions/REDACTED;x=REDACTED/y"),
        ("a.test/am/json/sessions?_action=x", "a.test/am/json/sessions?_action=x"),
        ("a.test/am/json/sessions/?_action=x", "a.test/am/json/sessions/?_action=x"),
        ("a.test/am/json/sess%69ons/t?_action=x", "a.test/am/json/sess%69ons/REDACTED?_action=x"),
        ("a.test/am/json/tokens/t", "a.test/am/json/tokens/REDACTED"), ("a.test/tokensize/t", "a.test/tokensize/t"),
        ("a.test/x/eyJhbGciOiJub25lIn0.eyJzdWIi.abc/y", "a.test/x/REDACTED/y"),
        ("a.test/x/z9-_abc0123456789012345*AAJTSQACMDE*", "a.test/x/REDACTED"),
        ("a.test/x/100%25/se%20a", "a.test/x/100%25/se%20a"),
        ("a.test/sessions/t", "a.test/sessions/REDACTED"), ("a.test/obsessions/t", "a.test/obsessions/t"),
    ])
    func forms(_ asked: String, _ shown: String) {
        #expect(url("http://\(asked)") == "http://\(shown)")
    }

    @Test("The URL of OPTIONS * has no path")
    func asterisk() throws {
        var head = RequestHead()
        var parser = HeadParser()
        _ = try parser.parse(
            Array("OPTIONS * HTTP/1.1\r\nHost: a.test:8080\r\n\r\n".utf8).span, into: &head, limits: HeadLimits())
        try head.adopt(authority: "a.test:8080", scheme: .http)
        #expect(Redaction(Settings()).url(of: head) == "http://a.test:8080" && head.url == "http://a.test:8080")
    }

    @Test("A URL in the log is ASCII, whatever the client sends")
    func bytes() {
        let talk = Conversation()
        talk.client(
            Array("GET http://a.test/".utf8) + [0xFF, 0xC3, 0xA4] + Array("?page=".utf8) + [0x80]
                + Array(" HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8))
        talk.driver.dialFails(.timedOut)
        #expect(talk.record.urlText == "http://a.test/%FF%C3%A4?page=%80")
    }

    @Test func namesThatTheConfigurationShows() {
        var settings = Settings()
        settings.disclosure.parameters = ["Order", "q"]
        #expect(
            url("http://a.test/p?order=7&Q=x&%71=y&qq=z", settings) == "http://a.test/p?order=7&Q=x&%71=y&qq=REDACTED")
    }

    @Test(
        "A secret reference of the configuration is redacted in every encoding",
        arguments: [
            "ä b/c?d%41e", "%C3%A4%20b%2Fc%3Fd%2541e", "%C3%A4%20b/c?d%41e", "ä%20b%2fc?d%2541e", "%c3%a4+b/c%3Fd%41e",
            "%C3%A4 b/c?d%2541e", "ä b/c?dAe",
        ])
    func encodedSecrets(_ text: String) {
        var settings = Settings()
        settings.disclosure.secrets = ["ä b/c?d%41e", "%41%42%43"]
        let redaction = Redaction(settings)
        #expect(redaction.text("<\(text)>%4") == "<REDACTED>%4")
        #expect(redaction.text("\(text)x\(text)") == "REDACTEDxREDACTED")
        #expect(redaction.text("\(text.dropLast())") == "\(text.dropLast())")
        #expect(redaction.text("ABC %41%42%43 %2541%2542%2543") == "ABC REDACTED REDACTED")
    }

    @Test("A secret reference of the configuration is redacted everywhere")
    func secrets() {
        var settings = Settings()
        settings.disclosure.secrets = ["s3cr3t/x", "s3cr3t", "tiny"]
        #expect(
            url("http://a.test/s3cr3t/x/s3cr3t?page=as3cr3tb", settings)
                == "http://a.test/REDACTED/REDACTED?page=aREDACTEDb")
        #expect(url("http://a.test/s3cr3t%2Fx/tiny/s3cr3", settings) == "http://a.test/REDACTED/tiny/s3cr3")
        settings.rules = [
            Rule(name: "move", request: [SetURL("http://b.test/s3cr3t/x")]),
            Rule(name: "end", request: [Abort("no s3cr3t here")]),
        ]
        let talk = Conversation(settings)
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        let answer = talk.clientGot()
        let notes = talk.notes.joined(separator: "\n")
        #expect(notes.contains("move: set URL to http://b.test/REDACTED") && notes.contains("no REDACTED here"))
        #expect(!notes.contains("s3cr3t") && !answer.contains("s3cr3t") && answer.contains("no REDACTED here"))
    }

    @Test(
        "A client's advice document is not shown as a tree",
        arguments: [
            ("composite_advice", "%3CAdvices%3Es3cret%3C/Advices%3E", "composite_advice"),
            ("service", "Login", "Login"),
            ("service", "%3CAdvices%3E", "REDACTED"), ("service", "My%20Tree", "My Tree"),
            ("Composite_Advice", "x", "composite_advice"),
        ])
    func tree(_ type: String, _ value: String, _ shown: String) {
        var settings = Settings()
        settings.servers = [server]
        let talk = Conversation(settings)
        talk.client(
            "POST http://am.test/am/json/authenticate?authIndexType=\(type)&authIndexValue=\(value) HTTP/1.1\r\n"
                + "Host: am.test\r\nContent-Length: 2\r\n\r\n{}")
        talk.driver.dialFails(.timedOut)
        #expect(talk.record.tree == shown)
        #expect(!talk.record.urlText.contains("s3cret"))
        #expect(!talk.notes.joined().contains("s3cret"))
    }

    @Test(
        "A client's realm is shown only if it is a plain name",
        arguments: [("/alpha", "/alpha"), ("/alpha/b", "/alpha/b"), ("/alpha%3FssoToken%3Ds3cret", "REDACTED")])
    func realm(_ value: String, _ shown: String) {
        var settings = Settings()
        settings.servers = [server]
        let talk = Conversation(settings)
        talk.client(
            "POST http://am.test/am/json/authenticate?realm=\(value) HTTP/1.1\r\nHost: am.test\r\n"
                + "Content-Length: 2\r\n\r\n{}")
        talk.driver.dialFails(.timedOut)
        #expect(talk.record.realm == shown)
        #expect(!talk.record.urlText.contains("s3cret") && !talk.notes.joined().contains("s3cret"))
    }
}
