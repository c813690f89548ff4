import Formats
import Journal
import Testing

@testable import Recordings

/// The files of a recording, and patterns of aliases.
struct RecordingFilesTests {
    private static func text(_ recording: Recording, _ name: String) -> String {
        let file = RecordingFiles(recording).all.first { $0.name == name }
        return String(decoding: file?.bytes ?? [], as: UTF8.self)
    }

    @Test("An exchange is a readable file")
    func readable() {
        #expect(
            Self.text(Samples.login, "004.yaml") == """
                at: "2026-11-18T11:06:40Z"
                request:
                  method: POST
                  url: https://am.example.com/am/json/authenticate
                  headers:
                    Content-Type: application/json
                  json:
                    authId: authId#2
                    password: password#2
                response:
                  status: 200
                  headers:
                    Content-Type: application/json
                    Set-Cookie: sid=session#1; Path=/
                  json:
                    tokenId: session#1

                """)
    }

    @Test("A form is written with its names, a page as a file of its own")
    func bodies() {
        #expect(Self.text(Samples.login, "006.yaml").contains("  form:\n    client_id: app\n    code: code#3\n"))
        let page = Samples.exchange(
            "1", "GET", "/", "", 200, "<p>\n</p>", fields: [("Content-Type", "text/html")])
        let recording = Recording(name: "p", recorded: 0, exchanges: [page])
        #expect(Self.text(recording, "1.yaml").contains("  file: \"1.response.html\"\n"))
        #expect(Self.text(recording, "1.response.html") == "<p>\n</p>")
    }

    @Test(
        "YAML keeps every text as it is",
        arguments: [
            "", "true", "1", "a: b", "- a", "# a", "\"", "a\nb", "${x}", "ä", "~", " a ", "null", "session#1", "a:b",
            "a:", "a #b",
        ])
    func scalars(_ text: String) {
        let written = String(decoding: YAMLText.document(["a": .string(text)]), as: UTF8.self)
        #expect(written.hasPrefix("a: ") && written.hasSuffix("\n"))
        #expect(written.hasPrefix("a: \"") || ["session#1", "a:b"].contains(text))
    }

    @Test(
        "A pattern finds the values of its aliases",
        arguments: [
            ("Bearer token#1", "Bearer abc", ["abc"]), ("a code#1 b code#2", "a x b y", ["x", "y"]),
            ("session##3", "session#3", []), ("u?c%3Dcode#1", "u?c%3Da%2Fb", ["a/b"]),
        ])
    func patterns(_ recorded: String, _ sent: String, _ values: [String]) {
        #expect(AliasPattern(recorded.utf8).values(in: sent)?.map(\.value) == values)
    }

    @Test("A pattern refuses a text that differs around its aliases")
    func otherText() {
        #expect(AliasPattern("Bearer token#1".utf8).values(in: "Basic abc") == nil)
        #expect(AliasPattern("a".utf8).values(in: "b") == nil)
        #expect(AliasPattern("a".utf8).values(in: "ab") == nil)
    }
}
