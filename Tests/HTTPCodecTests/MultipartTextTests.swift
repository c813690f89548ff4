import HTTPCodec
import Testing

/// Forms of parts, which are read and edited where they stand.
struct MultipartTextTests {
    private static let form = """
        before--x
        --x
        Content-Disposition: form-data; name="scope"

        openid
        --x \t
        content-disposition: form-data; filename="a.txt"; name="file"
        Content-Type: text/plain

        --xy is no boundary
        and --x neither

        --x
        Content-Disposition: form-data; name=scope

        more
        --x--
        behind
        """.replacing("\n", with: "\r\n")

    private static func read(_ text: String = form, _ boundary: String = "x") throws -> MultipartText {
        try MultipartText(Array(text.utf8), boundary: boundary)
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func reading() throws {
        let form = try Self.read()
        #expect(form.values(named: "scope").map(Self.text) == ["openid", "more"])
        #expect(form.values(named: "file").map(Self.text) == ["--xy is no boundary\r\nand --x neither\r\n"])
        #expect(form.values(named: "Scope").isEmpty)
        #expect(Self.text(form.bytes) == Self.form)
    }

    @Test("A part's body is replaced, further parts of the name go, all else stays")
    func setting() throws {
        var form = try Self.read()
        try form.set("file", Array("new\r\n".utf8))
        #expect(
            Self.text(form.bytes)
                == Self.form.replacing("--xy is no boundary\r\nand --x neither\r\n", with: "new\r\n"))
        try form.set("scope", [])
        #expect(form.values(named: "scope").map(Self.text) == [""])
        #expect(form.values(named: "file").map(Self.text) == ["new\r\n"])
        #expect(Self.text(form.bytes).hasPrefix("before--x\r\n--x\r\n"))
        #expect(Self.text(form.bytes).hasSuffix("\r\nnew\r\n\r\n--x--\r\nbehind"))
    }

    @Test("What is missing is added behind the last part")
    func adding() throws {
        var form = try Self.read()
        try form.set("a\"b", Array("v".utf8))
        try form.add("scope", Array("w".utf8))
        #expect(
            Self.text(form.bytes).hasSuffix(
                """
                more
                --x
                Content-Disposition: form-data; name="a%22b"

                v
                --x
                Content-Disposition: form-data; name="scope"

                w
                --x--
                behind
                """.replacing("\n", with: "\r\n")))
        #expect(form.values(named: "a\"b").map(Self.text) == ["v"])
        #expect(form.values(named: "scope").map(Self.text) == ["openid", "more", "w"])
    }

    @Test func removing() throws {
        var form = try Self.read()
        #expect(try form.removeAll { $0 == "none" } == 0)
        #expect(Self.text(form.bytes) == Self.form)
        #expect(try form.removeAll { $0 == "scope" } == 2)
        #expect(form.values(named: "scope").isEmpty && form.values(named: "file").count == 1)
        #expect(try form.removeAll { _ in true } == 1)
        #expect(Self.text(form.bytes) == "before--x\r\n--x--\r\nbehind")
        try form.add("a", [0x62])
        #expect(form.values(named: "a").map(Self.text) == ["b"])
    }

    @Test("A part without fields, one without a body, and none at all")
    func small() throws {
        #expect(try Self.read("--x--").values(named: "a").isEmpty)
        let form = try Self.read("--x\r\n\r\nbody\r\n--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--x--")
        #expect(form.values(named: "a").map(Self.text) == [""])
        // without a line break between the empty line and the delimiter
        var bare = try Self.read("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n--x--")
        try bare.set("a", [0x62])
        #expect(bare.values(named: "a").map(Self.text) == ["b"])
    }

    @Test(
        "What is no such form is a fault",
        arguments: [
            ("", MultipartFault.truncated), ("--x", .truncated), ("--x\r\n", .truncated),
            ("--x\r\n\r\nbody", .truncated),
            ("--x\r\nno field\r\n\r\n--x--", .malformed),
            ("--x\r\nContent-Disposition: form-data; name\r\n\r\n\r\n--x--", .malformed),
            ("--y\r\n\r\n--y--", .truncated), ("--x\n\nbody\n--x--\n", .truncated), ("a--x\r\n\r\n\r\n", .truncated),
            ("--x\r\nA: " + String(repeating: "b", count: 9000) + "\r\n\r\n\r\n--x--", .headTooLarge),
            (String(repeating: "--x\r\n\r\n\r\n", count: 1001) + "--x--", .tooManyParts),
        ])
    func faults(_ text: String, _ fault: MultipartFault) {
        #expect(throws: fault) { try Self.read(text) }
        #expect(!fault.explanation.isEmpty)
    }

    @Test(arguments: ["", "a b ", "a\"b", "a\r\n", String(repeating: "b", count: 71), "\u{E9}"])
    func boundaries(_ boundary: String) {
        #expect(throws: MultipartFault.boundary) { try Self.read(Self.form, boundary) }
    }

    @Test("What would break the form is not written")
    func broken() throws {
        var form = try Self.read()
        #expect(throws: MultipartFault.boundaryInValue) { try form.set("file", Array("a\r\n--x--".utf8)) }
        #expect(throws: MultipartFault.boundaryInValue) { try form.add("new", Array("--x".utf8)) }
        #expect(Self.text(form.bytes) == Self.form)
        for field in ["Content-Transfer-Encoding: base64", "Content-Length: 3"] {
            var odd = try Self.read("--x\r\nContent-Disposition: form-data; name=a\r\n\(field)\r\n\r\nYWI=\r\n--x--")
            #expect(throws: MultipartFault.encodedPart) { try odd.set("a", [0x62]) }
            #expect(try odd.removeAll { $0 == "a" } == 1)
        }
        var plain = try Self.read(
            "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: 8BIT\r\n\r\nc\r\n--x--")
        try plain.set("a", [0x62])
        #expect(plain.values(named: "a").map(Self.text) == ["b"])
    }

    @Test(
        "Content types",
        arguments: [
            ("text/html", "text", "html", nil), ("Text/HTML; charset=utf-8", "text", "html", nil),
            ("multipart/form-data; boundary=abc", "multipart", "form-data", "abc"),
            ("multipart/form-data ;a=b;; Boundary=\"a\\\"b c\" ; c=d", "multipart", "form-data", "a\"b c"),
            ("text/plain; boundary=abc", "text", "plain", nil), (" a/b ", "a", "b", nil),
        ])
    func types(_ text: String, _ type: String, _ subtype: String, _ boundary: String?) throws {
        let media = try #require(MediaType(text))
        #expect(media.type == type && media.subtype == subtype && media.boundary == boundary)
    }

    @Test(arguments: [
        "", "text", "/html", "text/", "te xt/html", "text/html; charset", "text/html; charset=", "text/html; a=b; A=c",
        "text/html; a=\"b", "text/html, text/plain",
        "a/b" + (0..<40).map { "; a\($0)=b" }.joined(),
    ])
    func noTypes(_ text: String) { #expect(MediaType(text) == nil) }
}
