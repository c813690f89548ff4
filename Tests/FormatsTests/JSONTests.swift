import Formats
import Testing

struct JSONTests {
    @Test func oneMemberAlone() throws {
        func member(_ text: String) throws -> String? {
            try JSONValue.member("authId", of: Array(text.utf8).span).map(\.serialized)
        }
        #expect(try member(#" {"a":[{"authId":1}],"authId":"x","b":"\u00e9"} "#) == #""x""#)
        #expect(try member(#"{"authId":1,"auth\u0049d":{"authId":2}}"#) == #"{"authId":2}"#, "the last counts")
        for text in ["{}", "[]", #"["authId"]"#, "1", #"{"authid":1}"#] { #expect(try member(text) == nil, "\(text)") }
        for text in ["", "{", #"{"authId":1"#, #"{"authId":1}}"#, #"{"authId":01}"#, #"{"authId"}"#] {
            #expect(throws: JSONFault.self) { _ = try member(text) }
        }
    }

    @Test(
        "What is read is written the same but for white space",
        arguments: [
            ("null", "null"), (" true ", "true"), ("false", "false"), ("0", "0"), ("-0.50e+10", "-0.50e+10"),
            ("1E2", "1e2"),
            ("\"\"", "\"\""), ("\"a\\u00e9\\n\\/\"", "\"a\u{E9}\\n/\""), ("\"\\ud83d\\ude00\"", "\"\u{1F600}\""),
            ("[ ]", "[]"), ("[1, [2,{}] ]", "[1,[2,{}]]"),
            ("{ \"b\" : 1 , \"a\":null,\"b\":2}", "{\"b\":1,\"a\":null,\"b\":2}"),
            ("\"\\u0000\\u001f\"", "\"\\u0000\\u001F\""), ("\"\u{7F}\"", "\"\\u007F\""),
        ])
    func roundTrip(_ text: String, _ written: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(value.serialized == written)
        #expect(try JSONValue(parsing: written) == value)
    }

    @Test("What is escaped is, wherever it stands in a long text, and nothing else")
    func longTexts() throws {
        let plain = String(repeating: "caf\u{E9} / ", count: 9)
        for place in 0...plain.count {
            for odd in ["\"", "\\", "\n", "\u{0}", "\u{7F}", "\"\\", "\u{1F600}"] {
                let text = String(plain.prefix(place)) + odd + plain.dropFirst(place)
                let written = JSONValue.string(text).serialized
                #expect(written == "\"" + text.unicodeScalars.map(escaped).joined() + "\"")
                #expect(try JSONValue(parsing: written) == .string(text))
            }
        }
    }

    private func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\u{0}": "\\u0000"
        case "\u{7F}": "\\u007F"
        default: String(scalar)
        }
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("nul", 3), ("nulL", 3), ("tru", 3), ("01", 0), ("-", 0), ("+1", 0), (".5", 0), ("1.", 2),
        ("1e", 2), ("1 2", 2), ("\"a", 2), ("\"\t\"", 1), ("\"\\x\"", 2), ("\"\\u12\"", 5), ("\"\\ud800\"", 7),
        ("\"\\udc00\"", 7), ("\"\\ud800\\u0041\"", 13), ("[1", 2), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("{", 1),
        ("{a:1}", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("[}", 1), ("'a'", 0), ("NaN", 0),
    ])
    func faults(_ text: String, _ offset: Int) {
        do throws(JSONFault) {
            _ = try JSONValue(parsing: text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.offset == offset)
        }
    }

    @Test("Bytes that are no UTF-8 are no JSON")
    func notUTF8() {
        #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xC3, 0x22]) }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test("Nesting ends at 64 levels")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try JSONValue(parsing: nested(64)).serialized == nested(64))
        #expect(throws: JSONFault.self) { try JSONValue(parsing: nested(65)) }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: nested(100_000)) }
    }

    @Test func access() throws {
        var value = try JSONValue(parsing: #"{"a":{"b":[10,"x",true]},"a2":1.5,"r":1,"r":2}"#)
        #expect(value["a"]?["b"]?[0]?.integer == 10)
        #expect(value["a"]?["b"]?[1]?.text == "x")
        #expect(value["a"]?["b"]?[2]?.isTrue == true)
        #expect(value["a"]?["b"]?[3] == nil)
        #expect(value["a"]?["b"]?["c"] == nil)
        #expect(value["a2"]?.integer == nil)
        #expect(value["r"]?.integer == 2)
        value["a2"] = .string("new")
        value["added"] = .integer(7)
        value["a"] = nil
        #expect(value.serialized == #"{"a2":"new","r":1,"r":2,"added":7}"#)
        #expect(value.members?.count == 4)
        var text = JSONValue.string("x")
        text["a"] = .null
        #expect(text == .string("x"))
    }
}
