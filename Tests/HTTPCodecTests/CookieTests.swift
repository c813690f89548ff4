import HTTPCodec
import Testing

struct CookieTests {
    @Test func reading() {
        let cookies = CookieText("a=1; b = 2;c=\"x y\" ;; d; a=3;e=f=g")
        #expect(cookies["a"] == "1")
        #expect(cookies["c"] == "\"x y\"")
        #expect(cookies["d"] == "")
        #expect(cookies["e"] == "f=g")
        #expect(cookies["A"] == nil)
        #expect(CookieText("").isEmpty)
        #expect(CookieText(" ; ;").isEmpty)
    }

    @Test func editing() {
        var cookies = CookieText("a=1; b=2; a=3")
        cookies.set("a", "new")
        #expect(cookies.text == "a=new; b=2")
        cookies.set("member", "gold")
        #expect(cookies.text == "a=new; b=2; member=gold")
        cookies.removeAll { $0 == "b" }
        #expect(cookies.text == "a=new; member=gold")
        #expect(cookies.names == ["a", "member"])
    }

    @Test("A combining character after a separator hides no cookie")
    func combining() {
        let cookies = CookieText("a=1;\u{301}b=2; session=\u{301}x")
        #expect(cookies.pairs.count == 3)
        #expect(cookies["session"] == "\u{301}x")
    }

    @Test(arguments: [
        ("session=abc; Path=/; HttpOnly", "session", "abc", false), ("a=b=c", "a", "b=c", false), ("a=", "a", "", true),
        ("a=LOGOUT; Path=/", "a", "LOGOUT", true), ("a=x; Max-Age=0", "a", "x", true),
        ("a=x; max-age = -1", "a", "x", true), ("a=x; Max-Age=60; Secure", "a", "x", false),
        (" a =x".replacing(" =", with: "="), "a", "x", false),
    ])
    func setCookie(_ line: String, _ name: String, _ value: String, _ deletes: Bool) throws {
        let cookie = try #require(SetCookie(line))
        #expect(cookie.name == name)
        #expect(cookie.value == value)
        #expect(cookie.deletes == deletes)
    }

    @Test(arguments: ["", "novalue", "=x", "; Path=/", ";a=b"])
    func noCookie(_ line: String) {
        #expect(SetCookie(line) == nil)
    }

    @Test func theAttributesOfALine() throws {
        let line =
            "a=b;  Domain = .Example.com ;PATH=/x; secure; HttpOnly; Max-Age=60; Expires=Wed, 21 Oct 2037 07:28:00 GMT"
        let cookie = try #require(SetCookie(line))
        #expect(cookie.domain == "example.com" && cookie.path == "/x" && cookie.isSecure && cookie.maxAge == 60)
        #expect(cookie.expires == "Wed, 21 Oct 2037 07:28:00 GMT" && !cookie.deletes)
        let bare = try #require(SetCookie("a=b; Domain=; Path=x; Max-Age=soon; secured; ;"))
        #expect(bare.domain == nil && bare.path == nil && !bare.isSecure && bare.maxAge == nil && !bare.deletes)
        #expect(SetCookie("a=b; Max-Age=-99999999999999999999")?.deletes == true)
        #expect(SetCookie("a=b; Max-Age=99999999999999999999")?.maxAge == .max)
        // what stands last counts
        #expect(try #require(SetCookie("a=b; Path=/x; Path=/y; Max-Age=5; Max-Age=0")).path == "/y")
    }
}
