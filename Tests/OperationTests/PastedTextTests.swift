import Interception
import Testing

@testable import Operation

/// What other commands print, pasted to be explained.
struct PastedTextTests {
    private func read(_ text: String) -> (request: String, response: String?, pasted: PastedText) {
        let pasted = PastedText(Array(text.utf8))
        return (
            String(decoding: pasted.request, as: UTF8.self),
            pasted.response.map { String(decoding: $0, as: UTF8.self) },
            pasted
        )
    }

    @Test("Comments are passed over, and what a flow was recorded as is taken from them")
    func comments() {
        let remark = PastedText.remark(action: "AUTHENTICATE", tree: "My Tree", type: "service")
        let read = read("\n# to be filled in: a#1 (X)\n# \(remark ?? "")\r\n\ncurl http://a.test/")
        #expect(read.request == "curl http://a.test/" && read.pasted.isCommand)
        #expect(read.pasted.payload?.tree == "My Tree" && read.pasted.payload?.type == "service")
        #expect(self.read("# seen as action=X\ncurl x").pasted.payload == nil)
        #expect(PastedText.remark(action: "X", tree: "", type: "") == nil)
        #expect(self.read("# only this").request.isEmpty)
    }

    @Test("A body that goes by a pipe is the command's")
    func pipe() {
        let read = read("printf %s AP8= | base64 -d | \\\n  curl \\\n  http://a.test/ \\\n  --data-binary @-")
        #expect(read.pasted.input == [0, 255] && read.pasted.isCommand)
        #expect(read.request.hasSuffix("--data-raw ''"))
        #expect(self.read("printf %s @@ | base64 -d | curl x --data-binary @-").pasted.input == nil)
    }

    private static let answer = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello"

    @Test(
        "Two messages are told apart",
        arguments: [
            ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", ""),
            ("POST http://a.test/ HTTP/1.1\r\nContent-Length: 3\r\n\r\n", "a=1"),
            // of a body that was unpacked to be kept
            ("POST http://a.test/ HTTP/1.1\r\nContent-Length: 2\r\n\r\n", "a=1"),
            (
                "POST http://a.test/ HTTP/1.1\r\nContent-Length: 34\r\n\r\n",
                "x\r\n\r\nHTTP/1.1 404 Not\r\n\r\n so it is"
            ),
            ("GET http://a.test/ HTTP/2\nhost: a.test\n\n", "a"),
        ])
    func messages(_ head: String, _ body: String) {
        let read = read(head + body + "\r\n\r\n" + Self.answer)
        #expect(read.request == head + body && read.response == Self.answer)
    }

    @Test("What is one message stays one")
    func one() {
        for text in [
            "POST http://a.test/ HTTP/1.1\r\nContent-Length: 24\r\n\r\nx\r\n\r\nHTTP/1.1 404 Not Ok",
            "POST http://a.test/ HTTP/1.1\r\n\r\nx HTTP/1.1 200 OK",
            "POST http://a.test/ HTTP/1.1\r\n\r\nx\r\n\r\nHTTP/ is it",
            "GET http://a.test/ HTTP/1.1",
        ] {
            let read = read(text)
            #expect(read.request == text && read.response == nil, "\(text)")
        }
    }
}
