import HTTPCodec
import Testing

struct QueryTextTests {
    @Test func reading() {
        let query = QueryText("a=1&b=%20x+y&a=2&flag&=empty&c==")
        #expect(query["a"] == "1")
        #expect(query.values(named: "a") == ["1", "2"])
        #expect(query["b"] == " x y")
        #expect(query["flag"] == "")
        #expect(query[""] == "empty")
        #expect(query["c"] == "=")
        #expect(query["none"] == nil)
    }

    @Test("Text that is not touched keeps its bytes", arguments: ["", "a", "a=1&&b", "&", "a=%2f+%2F&b=\u{E9}", "=&="])
    func untouched(_ text: String) {
        #expect(QueryText(text).text == text)
    }

    @Test func editing() {
        var query = QueryText("x=%2f&A=1&y=+&A=2")
        query.set("A", "b c")
        #expect(query.text == "x=%2f&A=b%20c&y=+")
        query.set("new", "&=")
        #expect(query.text == "x=%2f&A=b%20c&y=+&new=%26%3D")
        query.add("x", "2")
        query.removeAll { $0 == "x" }
        #expect(query.text == "A=b%20c&y=+&new=%26%3D")
        var empty = QueryText("")
        empty.add("a", "1")
        #expect(empty.text == "a=1")
    }

    @Test("A name is matched by what it decodes to")
    func encodedNames() {
        var query = QueryText("%61=1&b=2")
        #expect(query["a"] == "1")
        query.set("a", "3")
        #expect(query.text == "a=3&b=2")
    }

    @Test("A combining character after a separator hides nothing")
    func combining() {
        let query = QueryText("a=1&\u{301}b=2&c=\u{301}d")
        #expect(query.pairs.count == 3)
        #expect(query["c"] == "\u{301}d")
    }
}
