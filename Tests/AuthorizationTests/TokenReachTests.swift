import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// What is told from the bytes of a head is what the whole glob tells.
@Suite struct TokenReachTests {
    private static let globs = [
        "https://api.example.com/*", "https://api.example.com/a/*", "https://api.example.com/a",
        "http://api.example.com/*",
        "https://*.example.com/*", "https://*.example.com/a*", "https://api.example.com:8443/*",
        "HTTPS://API.Example.com/*",
        "https://192.0.2.1/*", "https://[2001:db8::1]/*", "https://api.example.com/", "https://api.example.com./*",
        // of another kind
        "https://api.example.com", "https://api.example.com*", "https://a*.example.com/*",
        "https://api.example.com/*/b",
        "https://api.example.com/a?b=*", "https://api.example.com/%61/*", "https://api.example.com/a//*", "*",
    ]
    private static let urls: [String] = ["https://", "http://"].flatMap { scheme in
        [
            "api.example.com", "API.example.COM", "api.example.com.", "api.example.com:443", "api.example.com:80",
            "api.example.com:8443", "b.api.example.com", "example.com", "xample.com", "evilexample.com", "192.0.2.1",
            "[2001:db8::1]", "[2001:DB8:0::1]", "api.example.org",
        ].flatMap { host in
            [
                "", "/", "/a", "/a/", "/A/x", "/a/b", "/ab", "/b", "/a?x", "/?a/", "?x", "/a/../b", "/b/../a/x",
                "/a/%2e%2e/b",
                "/%61/x", "//a/x", "/a//b", "/a/.b", "/a;x/b", "/a/*", "/a\\b", "/a%2Fb",
            ].map { scheme + host + $0 }
        }
    }

    @Test(arguments: globs) func itAgreesWithTheGlob(_ glob: String) throws {
        let pattern = URLPattern(glob)
        let reach = TokenReach(glob)
        var told = 0
        for url in Self.urls {
            guard let head = try? RequestHead(method: "GET", url: url), let answer = reach?.covers(head) else {
                continue
            }
            told += 1
            #expect(answer == pattern.matches(URLParts(head)), "\(glob) and \(url)")
        }
        let isOrdinary = Self.globs.firstIndex(of: glob).map { $0 < 12 } ?? false
        #expect((reach != nil) == isOrdinary && (told > 0) == isOrdinary)
    }

    @Test func aPathThatServersReadInSeveralWaysIsNotTold() throws {
        let reach = try #require(TokenReach("https://api.example.com/a/*"))
        for path in ["/a/../b", "/a/%2e%2e/b", "//a/x", "/a;x/b", "/a/.b", "/a\\b", ""] {
            #expect(
                reach.covers(try RequestHead(method: "GET", url: "https://api.example.com\(path)")) == nil, "\(path)")
        }
        #expect(reach.covers(try RequestHead(method: "GET", url: "https://api.example.com/a/b?../c")) == true)
    }

    @Test func aHostFieldIsTheTargetsOwnByteForByte() throws {
        var head = try RequestHead(method: "GET", url: "https://api.example.com:8443/a")
        #expect(head.hasHostOfItsTarget)
        head.fields.add("host", "api.example.com:8443")
        #expect(!head.hasHostOfItsTarget)
        for other in ["api.example.com", "api.example.com:8444", "API.example.com:8443", ""] {
            head.fields.set("Host", other)
            #expect(!head.hasHostOfItsTarget, "\(other)")
        }
        head.fields.remove(named: "Host")
        #expect(!head.hasHostOfItsTarget)
    }

    @Test func anEntrySaysOfOddPathsWhatItsGlobsSay() throws {
        var settings = TokenSettings(
            resources: ["https://api.example.com/a/*", "https://*.example.net/x?y=*"], manner: .learned,
            server: AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com"))
        settings.realm = "/"
        let source = TokenSource(settings)
        func admits(_ url: String) throws -> Bool { source.admits(try RequestHead(method: "GET", url: url)) }
        #expect(try admits("https://api.example.com/a/b") && admits("https://API.example.com/a//b"))
        #expect(try !admits("https://api.example.com/a/../b") && !admits("https://api.example.com/a/..%2fb"))
        #expect(try admits("https://b.example.net/x?y=1") && !admits("https://b.example.net/x?z=1"))
    }
}
