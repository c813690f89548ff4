import Formats
import Testing

@testable import Operation

/// Flows for other programs, and for a terminal.
struct FlowTextTests {
    private static func flow(
        _ method: String = "GET", url: String = "https://a.test/x", fields: [(String, String)] = [],
        body: String = #"{"bytes":0,"cut":false}"#
    ) throws -> JSONValue {
        let fields = JSONValue.array(
            fields.map { ["name": .string($0.0), "value": .string($0.1)] })
        return [
            "request": [
                "method": .string(method), "url": .string(url), "version": "HTTP/1.1", "fields": fields,
                "body": try JSONValue(parsing: body),
            ],
            "response": .null,
        ]
    }

    private static func body(_ text: String) -> String {
        JSONValue.object([
            .init("bytes", .integer(text.utf8.count)), .init("cut", .bool(false)), .init("text", .string(text)),
        ]).serialized
    }

    @Test(
        "What curl is told is what the client sent, whatever stands in it",
        arguments: [
            "plain", "it's", "$HOME `id` \"x\" \\ !", "two\nlines\ttab", "é ü", "", "-d @file", "'", "''",
            "'\u{301}; touch x #'",
            "a\u{9B}';b\u{202E}'$(c)", "\u{1B}\u{85}\n", "[\u{301}1]",
        ])
    func curl(_ text: String) throws {
        let flow = try Self.flow(
            "POST", fields: [("Host", "a.test"), ("X-Value", text.filter { $0 != "\n" }), ("Content-Length", "9")],
            body: Self.body(text))
        let line = try FlowText(flow).curl()
        let isPiped = !ShellText.isShown(text)
        let request = try CurlCommand.request(
            isPiped
                ? String(line[try #require(line.firstRange(of: "curl")).lowerBound...]).replacing("@-", with: "-")
                : line)
        #expect(request.method == "POST" && request.url == "https://a.test/x")
        if isPiped {
            #expect(line.hasPrefix("printf %s \(ShellText.quoted(Base64.encode(text.utf8))) | base64 -d | curl"))
        } else {
            #expect(Array((request.body ?? "").utf8) == Array(text.utf8))
        }
        let value = request.headers.first { $0.name == "X-Value" }
        #expect(Array((value?.value ?? "").utf8) == Array(text.filter { $0 != "\n" }.utf8))
        #expect(!request.headers.contains { $0.name == "Content-Length" || $0.name == "User-Agent" && $0.value != nil })
    }

    @Test("Secrets are named in a line of their own, and what steers a terminal is written as numbers")
    func notes() throws {
        let flow = try Self.flow(
            url: "https://a.test/x?code=code#1",
            fields: [("Cookie", "sid=session#3; b=1"), ("X", "a\u{9B}b\u{1B}")])
        let line = try FlowText(flow).curl()
        #expect(line.hasPrefix("# to be filled in: code#1 (code), session#3 (sid)\ncurl"))
        #expect(
            line.contains(#"'X: a'"$(printf '\302\233')"'b'"$(printf '\033')""#)
                && !line.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{1B}" })
        #expect(try FlowText(Self.flow(url: "https://a.test/[1]")).curl().contains("--globoff"))
        #expect(try FlowText(Self.flow(url: "https://a.test/[\u{301}1]")).curl().contains("--globoff"))
        #expect(try FlowText(Self.flow(url: "https://a.test/.\u{301}/x")).curl().contains("--path-as-is"))
        #expect(throws: FlowText.Fault.self) { try FlowText(Self.flow("CONNECT", url: "a.test:443")).curl() }
    }

    @Test("A body that is no text is given by a pipe")
    func binary() throws {
        let flow = try Self.flow("PUT", body: #"{"bytes":2,"cut":false,"base64":"/wA="}"#)
        let line = try FlowText(flow).curl()
        #expect(
            line.hasPrefix("printf %s /wA= | base64 -d | curl") || line.hasPrefix("printf %s '/wA=' | base64 -d | curl")
        )
        #expect(line.contains("--data-binary @-") && line.contains("-X PUT"))
    }

    private static let row = """
        {"id":"2000004","began":"2026-11-21T09:25:00.123Z","duration_ms":1234,"method":"GET","status":404,\
        "url":"https://a.test/PATH","action":null,"request_bytes":0,"response_bytes":123456,"marks":["step_up","request_changed"],\
        "error":null}
        """

    @Test(
        "A row is as wide as the terminal, and no wider; what is no terminal gets all of it",
        arguments: [80, 109, 110, 200])
    func rows(_ width: Int) throws {
        let path = String(repeating: "x", count: 300)
        let flow = try JSONValue(parsing: Self.row.replacing("PATH", with: path))
        let row = FlowList(.plain, width: width).row(flow).dropLast()
        #expect(row.count <= width && row.contains("…") && row.hasSuffix("CS"))
        #expect(FlowList(.plain, width: width).heading.count <= width + 1)
        #expect(row.contains("123k") == (width >= 110) && row.contains("1234") && row.contains("404"))
        #expect(FlowList(.plain, width: nil).row(flow).contains("a.test/\(path)"))
    }

    @Test("Nothing that a flow holds steers the terminal")
    func steering() throws {
        let flow = try JSONValue(
            parsing: Self.row.replacing("PATH", with: #"\u001b[31m\u009b\u202e"#).replacing("GET", with: #"G\u0007ET"#))
        let row = FlowList(.plain, width: 120).row(flow)
        #expect(row.unicodeScalars.filter(\.steers) == ["\n"])
    }

    @Test("Events come whole, however they are cut")
    func events() throws {
        let stream = Array(
            ":\n\nevent: flow\nid: 1\ndata: {\"a\":1}\n\n:\n\nevent: lost\ndata: {\"count\":2}\n\n".utf8)
        for size in 1...stream.count {
            var reader = EventReader()
            var names: [String] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                names += reader.take(stream[start..<min(start + size, stream.count)]).map(\.name)
            }
            #expect(names == ["flow", "lost"])
        }
    }

    @Test("Sizes take few characters")
    func sizes() {
        #expect(
            ["0", "999", "1.0k", "9.9k", "10k", "999k", "1.0M", "12G"]
                == [0, 999, 1000, 9999, 10_000, 999_999, 1_000_000, 12_000_000_000].map { FlowRecord.size($0) })
    }
}
