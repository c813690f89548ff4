import HTTPCodec
import Testing

@testable import Operation

@Suite("A response as somebody wrote it down")
struct GivenResponseTests {
    private func read(_ text: String, method: String = "GET") throws -> GivenResponse {
        try GivenResponse(Array(text.utf8), to: try RequestHead(method: method, url: "http://a.test/"))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        "\nHTTP/1.1 200 OK\n\nhi", "HTTP/2 200 \nserver: x\n\nhi", "HTTP/1.1 200 OK\nContent-Length: 9\n\nhi",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi\n", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi",
    ])
    func aBodyOfTwoBytes(_ text: String) throws {
        let response = try read(text)
        #expect(response.head.status == 200 && response.body == Array("hi".utf8))
        let again = try read(String(decoding: response.message, as: UTF8.self))
        #expect(again.body == response.body)
    }

    @Test func noBodyIsExpected() throws {
        #expect(try read("HTTP/1.1 200 OK\nContent-Length: 50\n\n", method: "HEAD").body == [])
        #expect(try read("HTTP/1.1 304 Same\nContent-Length: 50\n\n").head.fields["Content-Length"] == "50")
    }

    @Test(arguments: ["", "hello", "GET / HTTP/1.1\n\n", "HTTP/1.1 abc\n\n", "{}"])
    func noResponse(_ text: String) {
        #expect(throws: Explanation.Fault.self) { try read(text) }
    }
}
