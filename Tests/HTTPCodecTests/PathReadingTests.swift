import HTTPCodec
import Testing

@Suite("Paths as servers read them")
struct PathReadingTests {
    private func stays(_ path: String, under base: String) -> Bool {
        let bytes = Array(path.utf8)
        return PathReading.all(of: bytes) { $0.applied(to: bytes).starts(with: Array(base.utf8)) }
    }

    @Test(arguments: [
        "/api/", "/api/x", "/api/x.y/..z", "/api/%41", "/api/%2e", "/api/./x", "/api/a/../b", "/api/a%2fb/../c",
        "/api/a;x=1/b", "/api//x", "/api/\\x", "/api/caf%C3%A9", "/api/caf%c3%a9", "/api/100%25", "/api/100%",
        "/api/%zz",
        "/api/%252e/x", "/api/a%2Fb", "/api/\u{E4}",
        // letters beyond ASCII, in UTF-8 and in Latin-1, and a u that is none of an escape
        "/api/%C0-propos", "/api/%E9%E0", "/api/%e0%a4%85", "/api/%f0%9f%9a%80", "/api/%u", "/api/100%us", "/api/%u00e",
    ])
    func within(_ path: String) {
        #expect(stays(path, under: "/api/"))
    }

    @Test(arguments: [
        "/", "/api", "/admin", "//api/x", "/API/x", "/api/..", "/api/../", "/api/../admin", "/api/%2e%2e/admin",
        "/api/%2E./admin", "/api/.%2e/admin", "/api/..%2fadmin", "/api%2f..%2fadmin", "/api/..;/admin", "/api/..;a=b/x",
        "/api/..%3Ba/x", "/api/%2e%2e;/x", "/api/..\\x", "/api\\..\\x", "/api/..%5cx", "/api/%252e%252e/x",
        "/api/%25252e%25252e/x", "/api//../../x", "/api/;/../../x", "/api/x%00", "/api/%0a", "/api/%7f",
        // each of these ends under /api in the reading that leaves out most, and elsewhere in another
        "/api/%2e%2e/admin/..;/api/x", "/api/..;/admin/%2e%2e/api/x",
        "/api/%2e%2e/admin%2f..%2f..%2fapi%2fx",
        // and these in no single one, but where servers in a row each remove the dots that they see
        // what some servers read as dots and slashes: UTF-8 that is longer than need be, and the escape of old scripts
        "/api/%c0%ae%c0%ae/admin", "/api/..%c0%af../admin", "/api/%25c0%25ae%25c0%25ae/x", "/api/%c0%ae/x",
        "/api/%e0%80%ae%e0%80%ae/x", "/api/%f0%80%80%ae/x", "/api/%f8%80%80%80%ae/x", "/api/%fc%80%80%80%80%ae/x",
        "/api/%c1%9cx", "/api/%u002e%u002e/admin", "/api/..%u2215admin", "/api/%U002e/x", "/api/%25u002e/x",
        "/api/%2e%2e/admin/%2e%2e/../api/x", "/api/%252e%252e/admin/%252e%252e/%2e%2e/api/x", "/api/a/%2e%2e/b",
    ])
    func outside(_ path: String) {
        #expect(!stays(path, under: "/api/"))
    }

    @Test func aPathThatClimbsIsReadWhereItIsShort() {
        #expect(stays("/api/" + String(repeating: "x", count: 4000) + "/%41", under: "/api/"))
        #expect(!stays("/api/" + String(repeating: "x", count: 4000) + "/../y", under: "/api/"))
    }

    @Test func longFormsMayComeAsTheyAre() {
        for bytes: [UInt8] in [[0xC0, 0xAE], [0xE0, 0x80, 0xAE], [0xF0, 0x80, 0x80, 0xAE]] {
            #expect(!PathReading.all(of: Array("/api/".utf8) + bytes) { _ in true })
        }
        #expect(PathReading.all(of: Array("/api/\u{C0}\u{900}".utf8) + [0xC0]) { _ in true })
    }

    @Test func theCaseOfEscapesDoesNotMatter() {
        let found = PathReading.asWritten.applied(to: Array("/a%c3%e4/%zz/%a".utf8))
        #expect(String(decoding: found, as: UTF8.self) == "/a%C3%E4/%zz/%a")
    }

    // MARK: places

    private func holds(_ place: String, _ url: String) throws -> Bool {
        try #require(URLPlace(place)).holds(RequestHead(method: "GET", url: url))
    }

    @Test(
        arguments: [
            ("https://am.test/am", "https://AM.test:443/am", true),
            ("https://am.test/am/", "https://am.test/am/x", true),
            ("https://am.test/am", "https://am.test/am/", true), ("https://am.test", "https://am.test", true),
            ("https://am.test", "https://am.test/x", true), ("https://am.test/am", "http://am.test:443/am", false),
            ("https://am.test/am", "https://am.test:8443/am", false),
            ("https://am.test/am", "https://a.am.test/am", false),
            ("https://am.test/am", "https://am.test/ambush", false), ("https://am.test/am", "https://am.test/", false),
            ("https://am.test/am", "https://am.test/AM", false),
            ("https://am.test/am", "https://am.test/am/../x", false),
            ("https://am.test/am", "https://am.test/x/../am", false),
            ("https://am.test/am", "https://am.test/am/..%2fx", false),
            ("https://am.test/a%c3", "https://am.test/a%C3/x", true),
            ("http://[::1]:8080/am", "http://[::1]:8080/am/x", true),
        ] as [(String, String, Bool)])
    func places(_ place: String, _ url: String, _ expected: Bool) throws {
        #expect(try holds(place, url) == expected)
    }

    @Test func whatIsNoPlace() {
        for text in ["", "/am", "am.test", "ftp://am.test/", "https://", "https://u@am.test/"] {
            #expect(URLPlace(text) == nil)
        }
    }

    // MARK: references

    @Test(arguments: [
        ("https://b.test/x?y#z", "https://b.test/x"), ("HTTP://B.test:81", "http://b.test:81/"),
        ("//b.test/x", "https://b.test/x"),
        ("/x/../y", "https://a.test/x/../y"), ("?q", "https://a.test/d/e"), ("", "https://a.test/d/e"),
        ("#f", "https://a.test/d/e"),
        ("x/y", "https://a.test/d/x/y"), ("../x", "https://a.test/d/../x"), ("./x:y", "https://a.test/d/./x:y"),
        ("/x?a\\b c", "https://a.test/x"),
    ])
    func references(_ reference: String, _ expected: String) throws {
        let base = try RequestHead(method: "GET", url: "https://a.test:443/d/e?f=/g")
        let found = try #require(URLReference.resolve(reference, against: base))
        #expect(found.originText + found.path == expected)
    }

    @Test(arguments: [
        "javascript:x", "javascript://b.test/x", "http:evil", "http:/evil", "https:///x", "http:", "mailto:a@b",
        "ftp://b.test/",
        "\\\\b.test\\x", "/\\b.test", "http:\\\\b.test/", "https://u@b.test/", "https://u:p@b.test/",
        "https://b.test:x/",
        "https://b.test:99999/", "//", "///x", "x:y", "/a b", " /x", "/x\t", "java\tscript:x", "/x\u{7F}",
        "https://b t/",
        "https://[::1/", "/x?\u{1}",
    ])
    func referencesThatLeadNowhere(_ reference: String) throws {
        let base = try RequestHead(method: "GET", url: "https://a.test/d/e")
        #expect(URLReference.resolve(reference, against: base) == nil)
    }
}
