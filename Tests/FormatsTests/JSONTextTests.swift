import Formats
import Testing

/// Edits of JSON where it stands.
struct JSONTextTests {
    private static func edited(
        _ text: String, bound: Int = 10_000, _ edit: (inout JSONText) throws(JSONEditFault) -> Void
    ) throws(JSONEditFault) -> String {
        var json = JSONText(Array(text.utf8))
        do throws(JSONEditFault) {
            try edit(&json)
        } catch {
            #expect(json.bytes == Array(text.utf8), "nothing is changed where an edit cannot be made")
            throw error
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func pointer(_ text: String) -> JSONPointer { JSONPointer(text).unsafelyUnwrapped }

    private static func set(
        _ text: String, _ place: String, _ value: String = "9", bound: Int = 10_000
    ) throws(JSONEditFault) -> String {
        try edited(text) { json throws(JSONEditFault) in
            try json.set(pointer(place), to: Array(value.utf8), bound: bound)
        }
    }

    private static func remove(_ text: String, _ place: String) throws(JSONEditFault) -> String {
        try edited(text) { json throws(JSONEditFault) in try json.remove(pointer(place)) }
    }

    @Test(
        "A value is replaced where it stands, and nothing else changes",
        arguments: [
            (#"{"a":1}"#, "/a", #"{"a":9}"#),
            ("{ \"a\" : 1.0 ,\n\t\"b\":\"\\u0041\"}\r\n", "/a", "{ \"a\" : 9 ,\n\t\"b\":\"\\u0041\"}\r\n"),
            (#"{"a":{"b":[1,{"c":2}]},"d":1e0}"#, "/a/b/1/c", #"{"a":{"b":[1,{"c":9}]},"d":1e0}"#),
            (#"[0, 1 ,2]"#, "/1", #"[0, 9 ,2]"#),
            (#"{"a":{"x":[]}}"#, "/a", #"{"a":9}"#),
            (#"{"a/b":1,"m~n":2}"#, "/a~1b", #"{"a/b":9,"m~n":2}"#),
            (#"{"a/b":1,"m~n":2}"#, "/m~0n", #"{"a/b":1,"m~n":9}"#),
            (#"{"":1}"#, "/", #"{"":9}"#),
            (#"{"\u0061":1,"b":"a"}"#, "/a", #"{"\u0061":9,"b":"a"}"#),
            (#"{"caf\u00e9":1}"#, "/caf\u{E9}", #"{"caf\u00e9":9}"#),
            (#"{"\ud83d\ude00":1}"#, "/\u{1F600}", #"{"\ud83d\ude00":9}"#),
            (#"{"0":1}"#, "/0", #"{"0":9}"#),
            (" 1 ", "", " 9 "), (#"{"a":1}"#, "", "9"), ("\u{FEFF}{\"a\":1}", "/a", "\u{FEFF}{\"a\":9}"),
        ])
    func replacing(_ text: String, _ place: String, _ expected: String) throws {
        #expect(try Self.set(text, place) == expected)
    }

    @Test(
        "A missing member is added behind the last, as the last is written",
        arguments: [
            ("{}", "/a", #"{"a":9}"#), ("{ }", "/a", #"{"a":9 }"#),
            (#"{"b":1}"#, "/a", #"{"b":1,"a":9}"#),
            (#"{"b": 1, "c": 2}"#, "/a", #"{"b": 1, "c": 2, "a": 9}"#),
            ("{\n  \"b\" : 1\n}", "/a", "{\n  \"b\" : 1,\n  \"a\" : 9\n}"),
            (#"{"b":{}}"#, "/b/c/d", #"{"b":{"c":{"d":9}}}"#),
            ("{}", "/a/b/c", #"{"a":{"b":{"c":9}}}"#),
            ("{}", "/q\"\\", #"{"q\"\\":9}"#),
            ("[]", "/-", "[9]"), ("[1]", "/-", "[1,9]"), ("[1, 2]", "/-", "[1, 2, 9]"),
            ("[\n 1\n]", "/-", "[\n 1,\n 9\n]"), (#"[1]"#, "/-/a", #"[1,{"a":9}]"#),
            (#"{"l":[{"a":1}]}"#, "/l/0/b", #"{"l":[{"a":1,"b":9}]}"#),
            ("{}", "/-", #"{"-":9}"#), ("{}", "/0", #"{"0":9}"#),
        ])
    func adding(_ text: String, _ place: String, _ expected: String) throws {
        #expect(try Self.set(text, place) == expected)
    }

    @Test(
        "What is removed goes with its comma",
        arguments: [
            (#"{"a":1}"#, "/a", "{}"), (#"{ "a": 1 }"#, "/a", "{ }"), ("{\n  \"a\": 1\n}", "/a", "{\n}"),
            (#"{"a":1,"b":2,"c":3}"#, "/a", #"{"b":2,"c":3}"#),
            (#"{"a":1,"b":2,"c":3}"#, "/b", #"{"a":1,"c":3}"#),
            (#"{"a":1,"b":2,"c":3}"#, "/c", #"{"a":1,"b":2}"#),
            ("{ \"a\": 1,\n \"b\": 2 }", "/a", "{ \"b\": 2 }"), ("{ \"a\": 1 ,\n \"b\": 2 }", "/b", "{ \"a\": 1  }"),
            ("[1, 2, 3]", "/0", "[2, 3]"), ("[1, 2, 3]", "/1", "[1, 3]"), ("[1, 2, 3]", "/2", "[1, 2]"),
            ("[ 1 ]", "/0", "[ ]"), (#"{"x":{"a":[{"b":1,"c":2}]}}"#, "/x/a/0/b", #"{"x":{"a":[{"c":2}]}}"#),
            (#"{"a":1}"#, "/b", #"{"a":1}"#), (#"{"a":1}"#, "/a/b", #"{"a":1}"#), ("[1]", "/1", "[1]"),
            ("[1]", "/-", "[1]"), ("[1]", "/00", "[1]"), ("[1]", "/a", "[1]"), ("3", "/a", "3"),
        ])
    func removing(_ text: String, _ place: String, _ expected: String) throws {
        #expect(try Self.remove(text, place) == expected)
    }

    @Test("A name that stands more than once is edited everywhere")
    func repeated() throws {
        #expect(try Self.set(#"{"a":1,"b":2,"a":3}"#, "/a") == #"{"a":9,"b":2,"a":9}"#)
        #expect(try Self.set(#"{"a":{"x":1},"a":{}}"#, "/a/x") == #"{"a":{"x":9},"a":{"x":9}}"#)
        for (text, expected) in [
            (#"{"a":1,"a":2}"#, "{}"), (#"{"a":1,"a":2,"b":3}"#, #"{"b":3}"#), (#"{"b":3,"a":1,"a":2}"#, #"{"b":3}"#),
            (#"{"a":1,"b":2,"a":3,"c":4,"a":5}"#, #"{"b":2,"c":4}"#), (#"{"a":1, "\u0061":2, "b":3}"#, #"{"b":3}"#),
            (#"{"a":1,"b":{"a":1},"a":2}"#, #"{"b":{"a":1}}"#),
        ] {
            #expect(try Self.remove(text, "/a") == expected)
        }
        #expect(try Self.remove(#"{"a":{"x":1,"y":2},"b":0,"a":{"x":3}}"#, "/a/x") == #"{"a":{"y":2},"b":0,"a":{}}"#)
        var json = JSONText(Array(#"{"a":1,"a":2,"b":3}"#.utf8))
        #expect(try json.remove(Self.pointer("/a")) == 2)
        #expect(try json.remove(Self.pointer("/a")) == 0)
    }

    @Test(
        "What is not JSON is not edited",
        arguments: [
            ("", 0), ("{", 1), ("{\"a\":1}}", 7), ("{\"a\":1,}", 7), ("[1 2]", 3), ("{\"a\":01}", 5), ("nope", 1),
            ("{\"a\":1,\"b\":\"\u{1}\"}", 12), ("{'a':1}", 1), ("{\"a\":1} x", 8), ("{\"a\":\"\\u12\"}", 10),
            ("a=b", 0),
        ])
    func invalid(_ text: String, _ offset: Int) throws {
        #expect(throws: JSONEditFault.invalid(offset: offset)) { try Self.set(text, "/a") }
        #expect(throws: JSONEditFault.invalid(offset: offset)) { try Self.remove(text, "/a") }
        #expect(throws: JSONFault.self) { try JSONText(Array(text.utf8)).values(at: Self.pointer("/a")) }
    }

    @Test("Bytes that are no UTF-8 are no JSON, and half a pair of surrogates elsewhere disturbs nobody")
    func characters() throws {
        var json = JSONText([0x7B, 0x22, 0xC3, 0x22, 0x3A, 0x31, 0x7D])
        #expect(throws: JSONEditFault.self) { try json.set(Self.pointer("/a"), to: [0x31], bound: 100) }
        for bytes: [UInt8] in [[0xC3, 0xA9], [0xE2, 0x82, 0xAC, 0xC3, 0xA9], [0xF0, 0x9F, 0x98, 0x80]] {
            // at every place of a word of eight bytes
            for spaces in 0..<20 {
                let padding = [UInt8](repeating: 0x20, count: spaces)
                func text(_ inner: [UInt8]) -> [UInt8] {
                    padding + [0x7B, 0x22] + inner + Array("\":1, \"a\":1}".utf8)
                }
                var whole = JSONText(text(bytes))
                try whole.set(Self.pointer("/a"), to: [0x32], bound: 100)
                #expect(whole.bytes == text(bytes).dropLast(2) + [0x32, 0x7D])
                for cut in [Array(bytes.dropLast()), Array(bytes.dropFirst()), bytes + [0x80]] {
                    var json = JSONText(text(cut))
                    if cut.isEmpty { continue }
                    #expect(throws: JSONEditFault.invalid(offset: 0)) {
                        try json.set(Self.pointer("/a"), to: [0x32], bound: 100)
                    }
                }
            }
        }
        #expect(try Self.set(#"{"x":"\ud800","\udc00":1,"a":2}"#, "/a") == #"{"x":"\ud800","\udc00":1,"a":9}"#)
        #expect(try JSONText(Array(#"{"x":"\ud800"}"#.utf8)).values(at: Self.pointer("/x")).isEmpty)
    }

    @Test("Where the way is blocked, the edit is not made")
    func blocked() throws {
        #expect(throws: JSONEditFault.noContainer) { try Self.set(#"{"a":1}"#, "/a/b") }
        #expect(throws: JSONEditFault.noContainer) { try Self.set(#"{"a":null}"#, "/a/b") }
        #expect(throws: JSONEditFault.noContainer) { try Self.set("1", "/a") }
        #expect(throws: JSONEditFault.noContainer) { try Self.set(#"{"a":{},"a":1}"#, "/a/b") }
        #expect(throws: JSONEditFault.noItem(count: 2)) { try Self.set("[1,2]", "/2") }
        #expect(throws: JSONEditFault.noItem(count: 0)) { try Self.set("[]", "/0") }
        #expect(throws: JSONEditFault.noItem(count: 1)) { try Self.set("[1]", "/00") }
        #expect(throws: JSONEditFault.noItem(count: 1)) { try Self.set("[1]", "/a") }
        #expect(throws: JSONEditFault.noItem(count: 1)) { try Self.set("[1]", "/99999999999999999999") }
        #expect(throws: JSONEditFault.nothingLeft) { try Self.remove("{}", "") }
        for fault in [
            JSONEditFault.invalid(offset: 1), .noContainer, .noItem(count: 1), .nothingLeft, .tooLarge(bound: 1),
        ] {
            #expect(!fault.explanation.isEmpty)
        }
    }

    @Test("Nothing grows beyond the bound, however often a name stands there")
    func bounds() throws {
        #expect(try Self.set(#"{"a":1}"#, "/a", "123", bound: 9) == #"{"a":123}"#)
        #expect(throws: JSONEditFault.tooLarge(bound: 8)) { try Self.set(#"{"a":1}"#, "/a", "123", bound: 8) }
        let many = "{" + [String](repeating: "\"a\":1", count: 50_000).joined(separator: ",") + "}"
        let value = "\"" + String(repeating: "x", count: 1 << 16) + "\""
        #expect(throws: JSONEditFault.tooLarge(bound: 1 << 20)) { try Self.set(many, "/a", value, bound: 1 << 20) }
        #expect(try Self.remove(many, "/a") == "{}")
    }

    @Test("Nesting is bounded, in the text and in the pointer")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try Self.set("{\"a\":1,\"b\":\(nested(63))}", "/a") == "{\"a\":9,\"b\":\(nested(63))}")
        #expect(throws: JSONEditFault.self) { try Self.set("{\"a\":1,\"b\":\(nested(64))}", "/a") }
        #expect(throws: JSONEditFault.self) { try Self.remove(nested(100_000), "/0") }
        #expect(JSONPointer(String(repeating: "/a", count: 32)) != nil)
        #expect(JSONPointer(String(repeating: "/a", count: 33)) == nil)
    }

    @Test(
        "Every value at a place is found",
        arguments: [
            (#"{"type":"payment"}"#, "/type", ["\"payment\""]), (#"{"a":[{"b":1.50}]}"#, "/a/0/b", ["1.50"]),
            (#"{"a":1,"a":[true]}"#, "/a", ["1", "[true]"]), (#"{"a":null}"#, "/a", ["null"]), (#"{"a":1}"#, "/b", []),
            (#"{"a":1}"#, "/a/b", []), ("[1,2]", "/-", []), ("[1,2]", "/1", ["2"]), (" 5 ", "", ["5"]),
            (#"{"\u0074ype":"x"}"#, "/type", ["\"x\""]),
        ])
    func reading(_ text: String, _ place: String, _ expected: [String]) throws {
        let values = try JSONText(Array(text.utf8)).values(at: Self.pointer(place))
        #expect(values.map(\.serialized) == expected)
    }

    @Test("Pointers", arguments: ["a", "a/b", "/~", "/~2", "/a~", "#/a"])
    func noPointer(_ text: String) { #expect(JSONPointer(text) == nil) }

    @Test(
        "Values are compared by what they mean",
        arguments: [
            ("200", "200.0", true), ("200", "2e2", true), ("200", "2E+2", true), ("0.5", "5e-1", true),
            ("0", "-0.0e9", true),
            ("1", "-1", false), ("1", "10", false), ("1", "\"1\"", false), ("\"a\"", "\"\\u0061\"", true),
            ("\"a\"", "\"A\"", false), ("\"\u{E9}\"", "\"e\u{301}\"", false), ("true", "true", true),
            ("true", "false", false),
            ("null", "null", true), ("null", "false", false),
            ("1e99999999999999999999", "1e99999999999999999998", true),
            ("1e99999999999999999999", "1", false), ("1e-99999999999999999999", "1e99999999999999999999", false),
            ("[1,2]", "[1.0,2]", true), ("[1,2]", "[2,1]", false), (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#, true),
            (#"{"a":1}"#, #"{"a":1,"b":2}"#, false), ("12345678901234567890123", "12345678901234567890124", false),
        ])
    func meaning(_ left: String, _ right: String, _ same: Bool) throws {
        let (left, right) = (try JSONValue(parsing: left), try JSONValue(parsing: right))
        #expect(left.means(right) == same)
        #expect(right.means(left) == same)
    }

    @Test(
        "A text is read as far as it is JSON",
        arguments: [
            (#"{"a":["x",1,null]}"#, #"{"a":["?","?",null]}"#, nil), (#"{"a":"x" "#, #"{"a":"?" "#, []),
            (#"{"a":["x","y z"#, #"{"a":["?","?""#, ["a"]), (#"{"a":"x"} y"#, #"{"a":"?"}"#, ["1"]),
            (#"{"a":"x","b":{/**/"c":"y"}}"#, #"{"a":"?""#, ["b"]), (#"{a:"x"}"#, "", []), ("", "", nil),
            ("{\"a\":\"x\"}\n{\"a\":2}", "{\"a\":\"?\"}\n{\"a\":\"?\"}", nil), (#"["x",,"y",]"#, #"["?",,"?",]"#, nil),
            ("[\"x\n\", \"\\q\"]", #"["?", "?"]"#, nil), (#"[tru"#, #"[tru"#, ["0"]), (#"["x",-"#, #"["?""#, ["1"]),
            (#"{"a":"x","b"#, #"{"a":"?","b"#, ["b"]),
        ] as [(String, String, [String]?)])
    func scalars(_ text: String, _ expected: String, _ open: [String]?) {
        var edited = JSONText(Array(text.utf8))
        var path: [String] = []
        let reach = edited.replaceScalars { step in
            Self.follow(step, &path)
            return [0x3F]
        }
        #expect(String(decoding: edited.bytes, as: UTF8.self) == expected)
        #expect(path == open ?? [] && reach.isOpen == (open != nil))
        #expect((reach.end == 0) == expected.isEmpty)
    }

    private static func follow(_ step: JSONText.Step, _ path: inout [String]) {
        switch step {
        case .member(let name): path.append(String(decoding: name, as: UTF8.self))
        case .item(let number): path.append(String(number))
        case .end: path.removeLast()
        case .text, .number: break
        }
    }

    @Test("Each document after the first has a number, and what is deeper than 64 levels is not read")
    func scalarPaths() {
        var (path, paths): ([String], [String]) = ([], [])
        _ = JSONText(Array(#"{"a":["x"]} {"a":"y"}[{"b":1}]"#.utf8)).walk { step in
            Self.follow(step, &path)
            let (value, kind): (ArraySlice<UInt8>, String)
            switch step {
            case .text(let text): (value, kind) = (text, "t")
            case .number(let text): (value, kind) = (text, "n")
            default: return
            }
            paths.append((path + [String(decoding: value, as: UTF8.self), kind]).joined(separator: "/"))
        }
        #expect(paths == ["a/0/x/t", "1/a/y/t", "2/0/b/1/n"])
        let deep = #"["x","# + String(repeating: "[", count: 63) + #""y""#
        var cut = JSONText(Array(deep.utf8))
        #expect(cut.replaceScalars { _ in nil }.end == 4 && cut.bytes == Array(#"["x""#.utf8))
    }

    @Test("What steers a terminal is escaped in JSON")
    func steering() {
        var out: [UInt8] = []
        JSONValue.writePlain("a\u{9B}\u{202E}\u{E0041}ä\n\"", to: &out)
        #expect(String(decoding: out, as: UTF8.self) == #""a\u009B\u202E\uDB40\uDC41ä\n\"""#)
        #expect(
            ["\u{1B}", "\u{7F}", "\u{85}", "\u{200F}", "\u{2028}", "\u{FEFF}", "\u{E000}"].allSatisfy {
                ($0 as Unicode.Scalar).steers
            })
        #expect(["a", "ä", " ", "\u{301}", "語"].allSatisfy { !($0 as Unicode.Scalar).steers })
    }
}
