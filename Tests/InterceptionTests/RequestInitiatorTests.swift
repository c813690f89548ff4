import Declaration
import HTTPCodec
import Testing

@testable import Interception

@Suite("What has a client send a request")
struct RequestInitiatorTests {
    private func head(
        _ fields: [(String, String)], _ url: String = "https://shop.test/pay", method: String = "POST"
    ) throws -> RequestHead {
        var head = try RequestHead(method: method, url: url)
        for (name, value) in fields { head.fields.add(name, value) }
        return head
    }

    private static let site = "Sec-Fetch-Site"

    @Test(
        arguments: [
            ([], .user), ([(site, "none")], .user), ([(site, "same-origin")], .sameOrigin),
            ([(site, "same-origin"), ("Origin", "https://shop.test")], .sameOrigin),
            // a page whose referrer policy is no-referrer
            ([(site, "same-origin"), ("Origin", "null")], .sameOrigin),
            ([(site, "same-origin"), ("Origin", "https://evil.test")], .foreign("https://evil.test")),
            ([(site, "none"), ("Origin", "https://evil.test")], .foreign("https://evil.test")),
            ([(site, "none"), ("Origin", "null")], .foreign(nil)),
            ([(site, "same-site"), ("Origin", "https://a.shop.test")], .foreign("https://a.shop.test")),
            ([(site, "cross-site")], .foreign(nil)), ([(site, "cross-site"), ("Origin", "null")], .foreign(nil)),
            // another site sent the browser back
            ([(site, "cross-site"), ("Origin", "https://shop.test")], .foreign(nil)),
            ([(site, "Same-Origin")], .foreign(nil)), ([(site, "")], .foreign(nil)), ([(site, "x")], .foreign(nil)),
            ([(site, ""), ("Referer", "https://evil.test/")], .foreign(nil)),
            ([(site, ""), ("Origin", "https://shop.test")], .foreign(nil)),
            ([(site, "same-origin"), (site, "same-origin")], .foreign(nil)),
        ] as [([(String, String)], RequestInitiator)])
    func fetchMetadata(_ fields: [(String, String)], _ expected: RequestInitiator) throws {
        #expect(try RequestInitiator(head(fields)) == expected)
    }

    @Test(
        arguments: [
            (["https://shop.test"], .sameOrigin), (["HTTPS://SHOP.TEST:443"], .sameOrigin),
            (["http://shop.test"], .foreign("http://shop.test")),
            (["https://shop.test:8443"], .foreign("https://shop.test:8443")),
            (["https://shop.test.evil.test"], .foreign("https://shop.test.evil.test")),
            (["capacitor://localhost"], .foreign("capacitor://localhost")),
            (["null"], .foreign(nil)), ([""], .foreign(nil)), (["shop.test"], .foreign(nil)),
            (["https://shop.test/"], .foreign(nil)), (["https://a@shop.test"], .foreign(nil)),
            (["https://shop.test https://evil.test"], .foreign(nil)),
            (["https://shop.test,https://evil.test"], .foreign(nil)),
            (["https://shop.test", "https://evil.test"], .foreign(nil)),
            (["https://shop.test", "https://shop.test"], .foreign(nil)),
        ] as [([String], RequestInitiator)])
    func origin(_ values: [String], _ expected: RequestInitiator) throws {
        #expect(try RequestInitiator(head(values.map { ("Origin", $0) })) == expected)
    }

    @Test(
        arguments: [
            ("https://shop.test/cart?a=b", .sameOrigin), ("https://evil.test/", .foreign(nil)), ("/cart", .sameOrigin),
            ("android-app://com.example", .foreign(nil)), ("https://", .foreign(nil)), ("/", .sameOrigin),
            ("https:evil.test", .foreign(nil)), ("https:/evil.test", .foreign(nil)), ("//evil.test/", .foreign(nil)),
            ("/\\evil.test", .foreign(nil)), ("evil.test", .foreign(nil)), ("about:blank", .foreign(nil)),
            ("", .foreign(nil)), ("https://shop.test@evil.test/", .foreign(nil)), ("http://shop.test/", .foreign(nil)),
        ] as [(String, RequestInitiator)])
    func referer(_ value: String, _ expected: RequestInitiator) throws {
        #expect(try RequestInitiator(head([("Referer", value)])) == expected)
        // it is asked only where nothing else tells
        #expect(try RequestInitiator(head([("Referer", value), (Self.site, "same-origin")])) == .sameOrigin)
    }

    @Test func preflights() throws {
        let asked = [("Origin", "https://app.test"), ("Access-Control-Request-Method", "POST")]
        let found = try RequestInitiator(head(asked, method: "OPTIONS"))
        #expect(found == .preflight && found.refusal(listed: PageOrigins(["https://app.test"])) != nil)
        #expect(try RequestInitiator(head([asked[0]], method: "OPTIONS")) == .foreign("https://app.test"))
    }

    @Test func whatIsListed() {
        let listed = PageOrigins(["https://app.test:443", "https://*.shop.test", "capacitor://localhost"])
        for origin in ["https://app.test", "https://a.shop.test", "https://a.b.shop.test", "capacitor://localhost"] {
            #expect(RequestInitiator.foreign(origin).refusal(listed: listed) == nil, "\(origin)")
        }
        for origin in ["https://evil.test", "http://app.test", "https://app.test:8443", "https://shop.test"] {
            #expect(
                RequestInitiator.foreign(origin).refusal(listed: listed)
                    == "caused by a page of \(origin) (origins)")
        }
        #expect(RequestInitiator.foreign(nil).refusal(listed: listed) != nil)
        #expect(RequestInitiator.user.refusal(listed: PageOrigins()) == nil)
        #expect(RequestInitiator.sameOrigin.refusal(listed: PageOrigins()) == nil)
    }

    @Test(arguments: [
        "null", "*", "https://*", "https://*.com", "app.test", "https://app.test/", "https://app.test/x", "https://",
        "https://a@app.test", "https://a*.test", "https://a.*.test", "https://app.test:*", "https://app.test:99999",
        "https://app.test https://b.test", "",
    ])
    func whatIsNoOrigin(_ text: String) { #expect(!TextFormat.pageOrigin.accepts(text)) }

    @Test func whoseWinningsGoAlong() {
        let own = "https://shop.test"
        let listed = PageOrigins(["https://app.test"])
        #expect(RequestInitiator.user.winners(own: own, listed: listed) == [own, ""])
        #expect(RequestInitiator.sameOrigin.winners(own: own, listed: listed) == [own, ""])
        #expect(
            RequestInitiator.foreign("https://app.test").winners(own: own, listed: listed) == ["https://app.test", ""])
        #expect(
            RequestInitiator.foreign("https://evil.test").winners(own: own, listed: listed) == ["https://evil.test"])
        #expect(RequestInitiator.foreign(nil).winners(own: own, listed: listed) == [])
        #expect(RequestInitiator.preflight.winners(own: own, listed: listed) == [])
    }

    @Test func whoWins() {
        func winner(_ initiator: RequestInitiator, _ allowed: String...) -> String? {
            var response = ResponseHead(status: 200, reason: "OK")
            for value in allowed { response.fields.add("Access-Control-Allow-Origin", value) }
            return initiator.winner(response)
        }
        #expect(winner(.user) == "" && winner(.sameOrigin) == "")
        let page = RequestInitiator.foreign("https://app.test")
        #expect(winner(page, "https://app.test") == "https://app.test" && winner(page, "*") == "https://app.test")
        // a form is posted wherever its page likes
        #expect(winner(page) == nil && winner(page, "https://other.test") == nil && winner(page, "*", "*") == nil)
        #expect(winner(.foreign(nil), "null") == nil && winner(.foreign(nil), "*") == nil)
    }
}
