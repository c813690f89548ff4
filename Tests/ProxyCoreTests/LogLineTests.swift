import Formats
import Interception
import Testing

@testable import ProxyCore

/// Lines that interceptors write to the log: what may be a secret is not in them.
@Suite struct LogLineTests {
    private static let redaction: Redaction = {
        var settings = Settings()
        settings.servers = [AuthorizationServer(url: "http://am.test/am", host: "am.test", cookie: "amSession")]
        settings.disclosure.secrets = ["s3cr3t-pass"]
        settings.disclosure.secretNames = ["X-Custom"]
        settings.disclosure.parameters = ["tenant"]
        return Redaction(settings)
    }()

    private static func line(_ value: String, _ origins: ValueOrigin...) -> String {
        redaction.line(LoggedText(interceptor: "a", parts: [.text("<"), .value(value, origins), .text(">")]))
    }

    private static func member(_ pointer: String) -> ValueOrigin {
        JSONPointer(pointer).map { .member($0) } ?? .code
    }

    @Test(arguments: [
        ("7", [ValueOrigin.header("X-Request-Id")]), ("en", [.query("lang")]), ("acme", [.query("tenant")]),
        ("ann", [member("/user/name")]), ("Login", [.name]), ("200", []),
    ])
    func shown(_ value: String, _ origins: [ValueOrigin]) {
        let line = Self.redaction.line(LoggedText(interceptor: "a", parts: [.value(value, origins)]))
        #expect(line == value)
    }

    @Test(arguments: [
        ("a", ValueOrigin.header("Cookie")), ("a", .header("Set-Cookie")), ("a", .header("authorization")),
        ("a", .header("Proxy-Authorization")), ("a", .header("amSession")), ("a", .header("X-Api-Key")),
        ("a", .header("X-Custom")), ("a", .header("WWW-Authenticate")), ("a", .query("id")), ("a", .query("code")),
        ("a", member("/tokens/access_token")), ("a", member("/access_token/0")), ("a", member("/authId")),
        ("{\"access_token\":1}", member("/all")), ("[1]", member("/all")), ("a", .code), ("<Advices>", .name),
        ("Bearer x", .header("X-Other")), ("eyJhbGciOiJub25lIn0.e30.x", .header("X-Other")),
        ("sid=7", .header("X-Other")), ("AQIC5wM2LY4SfczFxI9lMv4PgF7l0123456789*AAJTSQACMDE*", .header("X-Other")),
        ("zz9-5wM2LY4SfczFxI9lMv4PgF7l0123456789*AAJTSQACMDE*", member("/note")),
        ("of eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.abcdef", .header("X-Other")),
        ("https://u:pw12345678@h/", .header("X-Other")), ("see //u:pw12345678@h/", .header("X-Other")),
        ("token: verysecret123456", member("/note")), ("https://a.test/", .header("X-Api-Key")),
    ])
    func hidden(_ value: String, _ origin: ValueOrigin) {
        #expect(Self.line(value, origin) == "<REDACTED>")
        #expect(Self.line(value, .header("X-Fine"), origin) == "<REDACTED>", "one of several is enough")
    }

    @Test func urlsAreShownAsTheLogShowsThem() {
        #expect(
            Self.line("https://a.test/cb?code=x&lang=en", .header("Location"))
                == "<https://a.test/cb?code=REDACTED&lang=en>")
    }

    @Test func tokensInPathsAreNotShown() {
        #expect(
            Self.line("https://a.test/am/json/tokens/abc/eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.abcdef", .header("X"))
                == "<https://a.test/am/json/tokens/REDACTED/REDACTED>")
    }

    @Test func noLineBreaksAndNoMoreThanFits() {
        #expect(Self.line("a\r\nb", .header("X")) == "<a  b>")
        #expect(Self.line("a\u{9B}b\u{85}\u{202E}\u{2028}\u{FEFF}\u{E0041}c", .header("X")) == "<a b     c>")
        #expect(
            Self.line(String(repeating: "ä", count: 200), .header("X")) == "<" + String(repeating: "ä", count: 128)
                + "…>")
        let many = Array(repeating: LoggedPart.value(String(repeating: "x", count: 200), []), count: 20)
        #expect(Self.redaction.line(LoggedText(interceptor: "a", parts: many)).utf8.count == 1024 + "…".utf8.count)
    }

    /// Also where it would be cut in the middle, or stands in several parts.
    @Test func whatCameFromReferencesIsTakenOut() {
        #expect(Self.line("s3cr3t-pass", .header("X")) == "<REDACTED>")
        let long = String(repeating: "x", count: 250) + "s3cr3t-pass"
        #expect(!Self.line(long, .header("X")).contains("s3cr3t"))
        let parts = [LoggedPart.text("s3cr3t"), .value("-pass", [.header("X")])]
        #expect(Self.redaction.line(LoggedText(interceptor: "a", parts: parts)) == "REDACTED")
    }

    @Test func oneLineForEachPhase() {
        func told(_ talk: (Conversation) -> Void) -> [String] {
            let one = Conversation(
                settings {
                    $0.rules = [
                        Rule(
                            name: "tell", request: [Log("asked")], response: [Log("answered")], error: [Log("lost")])
                    ]
                })
            talk(one)
            return one.notes.filter { $0.hasPrefix("tell: ") }
        }
        #expect(told { $0.exchange(get, ok) } == ["tell: asked", "tell: answered"])
        let lost = told {
            $0.client(get)
            $0.connects()
            $0.driver.originEnds()
        }
        #expect(lost == ["tell: asked", "tell: lost"])
    }
}
