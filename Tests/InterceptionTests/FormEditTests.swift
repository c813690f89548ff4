import ContentCoding
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// Form fields, and text in bodies.
struct FormEditTests {
    private static let form = "POST http://a.example/\nContent-Type: application/x-www-form-urlencoded; charset=utf-8"

    private static func edited(_ body: String, _ edits: any RequestEdit...) throws -> Plan.Edited {
        try Plan(rules: [rule("a", request: edits)]).request(form, body)
    }

    @Test("A field is set where the first of its name stands; the others stay as they came")
    func setting() throws {
        let body = "a%2b=1+2&scope=openid&x=%C3%A9&sc%6Fpe=more&y&&z=%zz"
        #expect(
            try Self.edited(body, SetForm([Pair("scope", "openid profile&")])).text
                == "a%2b=1+2&scope=openid%20profile%26&x=%C3%A9&y&&z=%zz")
        #expect(try Self.edited(body, SetForm([Pair("new", "\u{E9}+")])).text == body + "&new=%C3%A9%2B")
        #expect(try Self.edited("a=1", SetForm([Pair("a+b", "")])).text == "a=1&a%2Bb=")
        #expect(try Self.edited("a+b=1", SetForm([Pair("a b", "2")])).text == "a%20b=2")
    }

    @Test("Fields are added beside others and removed by name or glob")
    func addingAndRemoving() throws {
        let added = try Self.edited("a=1", AddForm([Pair("a", "2"), Pair("b", "3")]))
        #expect(added.text == "a=1&a=2&b=3")
        #expect(added.outcome.changes == ["a: added form field a, added form field b"])
        let removed = try Self.edited("a=1&b=%20&ab=+&c=4", RemoveForm(["a*", "none"]))
        #expect(removed.text == "b=%20&c=4")
        #expect(removed.outcome.changes == ["a: removed form field a*, found no form field none to remove"])
    }

    @Test("A form without fields is one all the same")
    func empty() throws {
        #expect(try Self.edited("", SetForm([Pair("a", "1")]), AddForm([Pair("a", "2")])).text == "a=1&a=2")
        #expect(try Self.edited("a=1", RemoveForm(["a"])).isReplaced)
        let removed = try Self.edited("", RemoveForm(["a"]))
        #expect(!removed.isReplaced && removed.outcome.changes == ["a: found no body for remove_form"])
    }

    @Test("Another type of body is left with a warning")
    func otherTypes() throws {
        let plan = Plan(rules: [rule("a", request: [SetForm([Pair("a", "2")])])])
        for (type, shown) in [("Content-Type: text/plain", "text/plain"), ("X: y", "of no type")] {
            let edited = try plan.request("POST http://a.example/\n\(type)", "a=1")
            #expect(edited.text == "a=1")
            #expect(edited.outcome.warnings == ["a: set_form left the body as it is, which is \(shown)"])
        }
        let bytes: [UInt8] = [0x61, 0x3D, 0xE9]
        let edited = try plan.request(Self.form, bytes)
        #expect(
            edited.body == bytes && edited.outcome.warnings.first?.words.hasSuffix("which is not UTF-8 text") == true)
        let many = try Self.edited(String(repeating: "&", count: 10_001), SetForm([Pair("a", "2")]))
        #expect(!many.isReplaced && many.outcome.warnings.count == 1)
    }

    @Test("A form of parts has fields as well")
    func parts() throws {
        let head = "POST http://a.example/\nContent-Type: multipart/form-data; boundary=\"-- x\""
        let body = """
            ---- x
            Content-Disposition: form-data; name="scope"
            X-Own: 1

            openid
            ---- x
            Content-Disposition: form-data; name="file"; filename="a.bin"

            \u{0}\u{1}
            ---- x--

            """.replacing("\n", with: "\r\n")
        let set = Plan(rules: [rule("a", request: [SetForm([Pair("scope", "more")])])])
        #expect(try set.request(head, body).text == body.replacing("openid", with: "more"))
        let removed = try Plan(rules: [rule("a", request: [RemoveForm(["file"]), AddForm([Pair("b", "c")])])])
            .request(head, body)
        #expect(
            removed.text
                == """
                ---- x
                Content-Disposition: form-data; name="scope"
                X-Own: 1

                openid
                ---- x
                Content-Disposition: form-data; name="b"

                c
                ---- x--

                """.replacing("\n", with: "\r\n"))
        let broken = try set.request(head, body.replacing("---- x--", with: ""))
        #expect(broken.outcome.warnings.first?.words.hasSuffix("which ends before the boundary that closes it") == true)
        let unnamed = try set.request("POST http://a.example/\nContent-Type: multipart/form-data", body)
        #expect(unnamed.outcome.warnings.count == 1 && !unnamed.isReplaced)
    }

    @Test("Text is replaced every time it stands there, patterns with their groups")
    func replacing() throws {
        func replaced(_ body: String, _ replacements: [(search: ReplaceBody.Search, text: String)]) throws
            -> Plan.Edited
        {
            try Plan(rules: [rule("a", request: [ReplaceBody(replacements)])])
                .request("POST http://a.example/\nContent-Type: text/plain", body)
        }
        #expect(try replaced("abcabc$1", [(.text("bc"), "$1")]).text == "a$1a$1$1")
        #expect(try replaced("aaa", [(.text("aa"), "b")]).text == "ba")
        let pattern = try Pattern("(\\d+) EUR")
        #expect(try replaced("5 EUR, 70 EUR", [(.pattern(pattern), "$$$1")]).text == "$5, $70")
        #expect(try replaced("ab", [(.text("a"), "b"), (.text("b"), "c")]).text == "cc")
        let none = try replaced("ab", [(.text("x"), "b"), (.pattern(pattern), "")])
        #expect(!none.isReplaced && none.outcome.warnings.isEmpty)
        let tooLarge = try replaced(
            String(repeating: "a", count: 1000), [(.text("a"), String(repeating: "b", count: 100))])
        #expect(
            tooLarge.outcome.warnings == [
                "a: replace_body left the body as it is, which would be larger than 65536 bytes"
            ])
        #expect(ReplaceBody([(.pattern(pattern), "")]).patterns.count == 1)
    }

    // MARK: what conditions read

    private static func body(_ text: String, _ type: String?, _ coding: [Coding] = []) throws -> EditedBody {
        var fields = FieldTable()
        if !coding.isEmpty { fields.add("Content-Encoding", coding.map(\.rawValue).joined(separator: ", ")) }
        let bytes = try BodyEncoder.encode(Array(text.utf8), coding)
        var body = EditedBody(.whole(bytes), fields, CodingLimits(size: 10_000))
        body.contentType = type
        return body
    }

    @Test("Fields of a form are read, whatever it is made of")
    func fields() throws {
        let form = "application/x-www-form-urlencoded"
        var pairs = try Self.body("grant%5Ftype=a+b&c=1&grant_type=%C3%A9&d", form, [.gzip])
        #expect(pairs.formValues(named: "grant_type") == ["a b", "\u{E9}"])
        #expect(pairs.formValues(named: "d") == [""] && pairs.formValues(named: "e").isEmpty)
        var parts = try Self.body(
            "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1+1\r\n--x--", "multipart/form-data; boundary=x")
        #expect(parts.formValues(named: "a") == ["1+1"] && parts.formValues(named: "b").isEmpty)
        for type in ["multipart/form-data; boundary=y", "multipart/form-data", "text/plain", nil] {
            var other = try Self.body("a=1", type)
            #expect(other.formValues(named: "a").isEmpty)
        }
    }

    @Test("Values of JSON are read where a pointer leads")
    func values() throws {
        let pointer = try #require(JSONPointer("/type"))
        var body = try Self.body(#"{"type":"payment","type":7.0}"#, "application/json", [.brotli])
        let values = body.json(at: pointer)
        #expect(values.count == 2 && values[0].means(.string("payment")) && values[1].means(.integer(7)))
        #expect(!body.isChanged)
        var none = try Self.body("type=payment", nil)
        #expect(none.json(at: pointer).isEmpty)
        var image = try Self.body(#"{"type":1}"#, "image/png")
        #expect(image.json(at: pointer).isEmpty)
        var rest = EditedBody(.overLimit, FieldTable(), CodingLimits(size: 5))
        #expect(rest.json(at: pointer).isEmpty && rest.formValues(named: "a").isEmpty)
    }

    @Test("A pattern that thinks for long changes nothing, and is counted")
    func bomb() throws {
        let pattern = try Pattern("(a|aa|ab?)+$")
        let plan = Plan(rules: [rule("a", request: [ReplaceBody([(.pattern(pattern), "x")])])])
        let body = String(repeating: "a", count: 30_000) + "!"
        let edited = try plan.request("POST http://a.example/", body)
        #expect(!edited.isReplaced && edited.text == body)
        #expect(pattern.watch.word(now: 0) != nil)
    }
}
