import HTTPCodec
import Testing

@Suite("The normal form of a path")
struct NormalPathTests {
    private func normal(_ path: String) -> String {
        String(decoding: NormalPath.of(path.utf8), as: UTF8.self)
    }

    @Test(arguments: [
        ("/admin", "/admin"), ("/%61dmin", "/admin"), ("/%61%64min", "/admin"), ("//admin", "/admin"),
        ("/./admin", "/admin"), ("/x/../admin", "/admin"), ("/x/%2e%2e/admin", "/admin"), ("/%2E/admin", "/admin"),
        ("/../../admin", "/admin"), ("/admin/", "/admin/"), ("/admin//", "/admin/"), ("/admin/.", "/admin/"),
        ("/admin/x/..", "/admin/"), ("/", "/"), ("/..", "/"), ("//", "/"), ("/a%40b", "/a@b"), ("/%7Bid%7D", "/{id}"),
        // what separates stays apart from what does not, in capitals
        ("/a%2fb", "/a%2Fb"), ("/a%3bb", "/a%3Bb"), ("/a;b", "/a;b"), ("/a%3fb", "/a%3Fb"), ("/a%23b", "/a%23b"),
        ("/a%5cb", "/a%5Cb"), ("/%2561", "/%2561"), ("/%2a", "/%2A"), ("/*", "/*"), ("/..%2f..", "/..%2F.."),
        ("/caf\u{E9}", "/caf%C3%A9"), ("/caf%c3%a9", "/caf%C3%A9"), ("/a b", "/a%20b"), ("/a%00", "/a%00"),
        // no escape
        ("/100%", "/100%"), ("/%zz", "/%zz"), ("/%4", "/%4"), ("*", "*"), ("*/a", "*/a"), ("", ""),
        ("/.a/..b/c.", "/.a/..b/c."),
    ])
    func isOne(_ path: String, _ wanted: String) {
        #expect(normal(path) == wanted)
        #expect(normal(wanted) == wanted)
    }

    /// A path that is passed over is in its normal form.
    @Test func whatIsPassedOver() {
        let pieces = ["/", "a", ".", "%61", "%2F", ";", "long-enough-for-words", "\u{E9}", "*", "%"]
        var paths = [""]
        for _ in 0..<4 { paths += paths.suffix(1000).flatMap { path in pieces.map { path + $0 } } }
        var passed = 0
        for path in paths.map({ "/" + $0 }) {
            let bytes = Array("x\(path)?%61/./".utf8)
            let range = ByteRange(start: 1, end: 1 + path.utf8.count)
            guard !NormalPath.mayDiffer(bytes.span, range) else { continue }
            passed += 1
            #expect(normal(path) == path, "\(path)")
        }
        #expect(passed > 100 && passed < paths.count / 2)
    }
}
