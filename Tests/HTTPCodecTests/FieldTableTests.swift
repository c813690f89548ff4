import HTTPCodec
import Testing

struct FieldTableTests {
    private func table(_ fields: [(String, String)]) -> FieldTable {
        var table = FieldTable()
        for (name, value) in fields { table.add(name, value) }
        return table
    }

    private func lines(_ table: FieldTable) -> [String] { table.lines.map { "\($0.name): \($0.value)" } }

    @Test func reading() {
        let fields = table([("Host", "h"), ("X-A", "1"), ("x-a", "2"), ("Cookie", "c=d")])
        #expect(fields.count == 4)
        #expect(fields["X-a"] == "1")
        #expect(fields.values(named: "X-A") == ["1", "2"])
        #expect(fields.first(.cookie) == 3)
        #expect(fields.first(.via) == nil)
        #expect(fields.first(named: "x-a", from: 2) == 2)
        #expect(fields.first(named: "x-a", from: 3) == nil)
        #expect(fields["X-AB"] == nil)
        #expect(fields.contains(.host))
    }

    @Test("Set keeps the place of the first and drops the others")
    func set() {
        var fields = table([("A", "1"), ("B", "2"), ("a", "3"), ("C", "4"), ("A", "5")])
        fields.set("a", "new")
        #expect(lines(fields) == ["A: new", "B: 2", "C: 4"])
        fields.set("D", "6")
        #expect(lines(fields) == ["A: new", "B: 2", "C: 4", "D: 6"])
    }

    @Test func remove() {
        var fields = table([("A", "1"), ("a", "2"), ("B", "3"), ("A", "4")])
        #expect(fields.remove(named: "A") == 3)
        #expect(fields.remove(named: "A") == 0)
        #expect(lines(fields) == ["B: 3"])
        fields.remove(at: 0)
        #expect(fields.isEmpty)
    }

    @Test("Edits of a head that was read leave the other fields as they came")
    func editedHead() throws {
        var head = try requestHead(
            "GET http://h/ HTTP/1.1\r\nhOST: h\r\nX-Long: \(String(repeating: "v", count: 99))\r\n\r\n")
        head.fields.set("Host", "other.example")
        head.fields.add("Via", "1.1 usher")
        #expect(head.fields.lines.map(\.name) == ["hOST", "X-Long", "Via"])
        #expect(head.fields["host"] == "other.example")
        #expect(head.fields["x-long"]?.count == 99)
        #expect(head.fields.first(.via) == 2)
        #expect(head.targetText == "http://h/")
    }

    @Test(
        "Every known name is recognised in any case, and nothing near it",
        arguments: [
            ("Host", FieldName.host), ("Connection", .connection), ("Keep-Alive", .keepAlive),
            ("Proxy-Connection", .proxyConnection), ("Content-Length", .contentLength),
            ("Transfer-Encoding", .transferEncoding), ("TE", .te), ("Trailer", .trailer), ("Upgrade", .upgrade),
            ("Via", .via), ("Expect", .expect), ("Cookie", .cookie), ("Set-Cookie", .setCookie),
            ("Authorization", .authorization), ("Proxy-Authorization", .proxyAuthorization),
            ("Proxy-Authenticate", .proxyAuthenticate), ("Content-Type", .contentType), ("Location", .location),
            ("WWW-Authenticate", .wwwAuthenticate), ("Max-Forwards", .maxForwards),
            ("X-Authenticate-Response", .xAuthenticateResponse), ("Content-Encoding", .contentEncoding),
            ("Date", .date),
            ("Accept", .accept), ("Server", .server),
        ])
    func knownNames(_ name: String, _ known: FieldName) {
        for spelling in [name, name.lowercased(), name.uppercased()] {
            #expect(table([(spelling, "")]).slots[0].known == known)
        }
        for wrong in ["x" + name, name + "x", name.dropLast() + "?", "_" + name.dropFirst()] {
            #expect(table([(wrong, "")]).slots[0].known == .other)
        }
    }

    @Test("The fields of one connection never travel on")
    func hopByHop() {
        for name in [
            FieldName.connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade, .proxyAuthorization,
        ] {
            #expect(name.isHopByHop)
        }
        for name in [FieldName.other, .host, .via, .contentLength, .cookie, .authorization, .trailer] {
            #expect(!name.isHopByHop)
        }
    }

    @Test func syntax() {
        #expect(FieldSyntax.isName("X-Forwarded_For.1"))
        for wrong in ["", "a b", "a:", "a\r", "\u{E9}", "a(b)"] { #expect(!FieldSyntax.isName(wrong)) }
        for right in ["", "a b\tc", "\u{E9}", "\"q\""] { #expect(FieldSyntax.isValue(right)) }
        for wrong in ["a\r\nB: c", "a\nb", "a\u{0}", "\u{7F}"] { #expect(!FieldSyntax.isValue(wrong)) }
    }
}
