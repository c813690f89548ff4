import HTTPCodec
import Testing

@testable import Interception

/// Cookies as a user agent keeps them (RFC 6265 §5.3, §5.4).
@Suite struct CookieJarTests {
    private static let now = 1_700_000_000

    private func jar(_ lines: String..., from url: String = "http://db.example.com/in/_session") throws -> CookieJar {
        var jar = CookieJar()
        try take(lines, from: url, &jar)
        return jar
    }

    private func take(
        _ lines: [String], only name: String? = nil, from url: String = "http://db.example.com/in/_session",
        at time: Int = now, _ jar: inout CookieJar
    ) throws {
        var fields = FieldTable()
        for line in lines { fields.add("Set-Cookie", line) }
        jar.take(fields, only: name, answering: try RequestHead(method: "POST", url: url), now: time)
    }

    private func sent(_ jar: CookieJar, to url: String, at time: Int = now) throws -> [String] {
        let selection = jar.selection(for: try RequestHead(method: "GET", url: url), now: time)
        return selection.pairs.map { "\($0.name)=\($0.value)" } + selection.withheld
    }

    @Test(arguments: [
        ("a=b", "http://db.example.com/in/x", ["a=b"]),
        ("a=b", "http://db.example.com/other", ["a stays behind: its path /in does not admit the request's path"]),
        ("a=b; Path=/", "http://db.example.com:81/other", ["a=b"]),
        ("a=b; Path=x", "http://db.example.com/in", ["a=b"]),
        ("a=b; Path=/", "http://x.db.example.com/", ["a stays behind: it is for the host db.example.com alone"]),
        ("a=b; Path=/; Domain=example.com", "http://x.example.com/", ["a=b"]),
        ("a=b; Path=/; Domain=.Example.com", "http://x.example.com/", ["a=b"]),
        ("a=b; Path=/; Domain=", "http://db.example.com/", ["a=b"]),
        ("a=b; Path=/; Domain=other.example", "http://other.example/", []),
        (
            "a=b; Path=/; Secure", "http://db.example.com/",
            ["a stays behind: it is secure and the request is not https"]
        ),
        ("a=b; Path=/; secure", "https://db.example.com/", ["a=b"]),
        ("a=b; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "http://db.example.com/", ["a=b"]),
        ("a=b; Path=/; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "http://db.example.com/", []),
        // Max-Age goes before Expires
        ("a=b; Path=/; Max-Age=5; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "http://db.example.com/", ["a=b"]),
        ("a=b; Path=/; Max-Age=0", "http://db.example.com/", []), ("a=; Path=/", "http://db.example.com/", []),
        ("a=b\u{7F}; Path=/", "http://db.example.com/", []), ("=b; Path=/", "http://db.example.com/", []),
    ])
    func oneCookie(line: String, url: String, expected: [String]) throws {
        #expect(try sent(jar(line), to: url) == expected)
    }

    @Test func aLaterCookieTakesTheEarliersPlace() throws {
        var jar = try jar("a=1; Path=/", "b=2; Path=/", "a=3; Path=/in")
        try take(["a=4; Path=/", "b=gone; Path=/; Max-Age=-1"], &jar)
        #expect(try sent(jar, to: "http://db.example.com/in/x") == ["a=3", "a=4"])
    }

    @Test func aCookieEnds() throws {
        let jar = try jar("a=b; Path=/; Max-Age=10")
        #expect(jar["a"]?.expires == Self.now + 10)
        #expect(try sent(jar, to: "http://db.example.com/", at: Self.now + 9) == ["a=b"])
        #expect(try sent(jar, to: "http://db.example.com/", at: Self.now + 10) == [])
    }

    @Test func theOneThatIsAskedForAlone() throws {
        var jar = CookieJar()
        try take(["a=1; Path=/", "b=2; Path=/"], only: "b", &jar)
        #expect(jar.cookies.map(\.name) == ["b"])
    }

    @Test func thereIsAnEndToWhatIsKept() throws {
        var jar = CookieJar()
        try take((0..<100).map { "a\($0)=1" }, &jar)
        #expect(jar.cookies.count == CookieJar.most)
        jar = CookieJar()
        try take(["a=" + String(repeating: "x", count: CookieJar.longest)], &jar)
        #expect(jar.isEmpty)
        try take(["a=1; Max-Age=9223372036854775807"], &jar)
        #expect(jar["a"] != nil)
    }
}
