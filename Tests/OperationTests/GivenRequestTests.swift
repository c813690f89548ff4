import Formats
import HTTPCodec
import ProxyCore
import Testing

@testable import Operation

@Suite("A request as somebody wrote it down")
struct GivenRequestTests {
    private func read(_ text: String) throws -> GivenRequest { try GivenRequest(Array(text.utf8)) }

    private func line(_ request: GivenRequest) -> String {
        String(decoding: request.message.prefix { $0 != ASCII.cr }, as: UTF8.self)
    }

    private func body(_ request: GivenRequest) -> String { String(decoding: request.body, as: UTF8.self) }

    // MARK: curl

    @Test(
        "Options of data make it a POST, also without any data",
        arguments: [
            ("-d ''", "", "application/x-www-form-urlencoded"),
            ("--data \"\"", "", "application/x-www-form-urlencoded"),
            ("--data-binary ''", "", "application/x-www-form-urlencoded"), ("--json ''", "", "application/json"),
            ("-d '' -d a", "&a", "application/x-www-form-urlencoded"),
            ("-d a -d ''", "a&", "application/x-www-form-urlencoded"),
            ("-d x --json y", "xy", "application/json"),
            ("--data-urlencode '=a b&c'", "a+b%26c", "application/x-www-form-urlencoded"),
            ("--data-urlencode 'n=a b~'", "n=a+b~", "application/x-www-form-urlencoded"),
            ("--data-urlencode 'a b'", "a+b", "application/x-www-form-urlencoded"),
            ("--data-urlencode 'n=a@b'", "n=a%40b", "application/x-www-form-urlencoded"),
        ])
    func data(_ options: String, _ expected: String, _ type: String) throws {
        let request = try read("curl \(options) http://a.test/")
        #expect(line(request) == "POST http://a.test/ HTTP/1.1")
        #expect(body(request) == expected && request.head.fields["Content-Type"] == type)
        #expect(request.head.fields["Content-Length"] == "\(expected.utf8.count)")
    }

    @Test func withoutData() throws {
        #expect(line(try read("curl http://a.test/")) == "GET http://a.test/ HTTP/1.1")
        #expect(line(try read("curl -G -d '' http://a.test/")) == "GET http://a.test/ HTTP/1.1")
        #expect(line(try read("curl -G -d a=1 -d '' -d b http://a.test/")) == "GET http://a.test/?a=1&&b HTTP/1.1")
        #expect(line(try read("curl -I http://a.test/")) == "HEAD http://a.test/ HTTP/1.1")
        #expect(try read("curl http://a.test/").head.fields["Content-Length"] == nil)
    }

    @Test(arguments: [
        ("-H 'Accept:'", "accept", []), ("-H 'Accept: '", "accept", []), ("-H 'Accept;'", "accept", [""]),
        ("-H 'X;'", "x", [""]), ("-H 'X:y'", "x", ["y"]), ("-H 'User-Agent:'", "user-agent", []),
        ("-A ''", "user-agent", []), ("-e ''", "referer", []), ("-d x -H 'Content-Type:'", "content-type", []),
        ("", "accept", ["*/*"]), ("-b a=1 -b b=2", "cookie", ["a=1;b=2"]), ("-b ''", "cookie", []),
        ("-H 'X: a' -H 'X:'", "x", ["a"]),
    ])
    func headers(_ options: String, _ name: String, _ expected: [String]) throws {
        #expect(try read("curl \(options) http://a.test/").head.fields.values(named: name) == expected)
    }

    @Test(arguments: [
        "-d @body", "--data-binary @body", "--json @body", "--data-urlencode name@body", "--data-urlencode @body",
        "-b cookies.txt", "-H @headers",
    ])
    func whatAFileHasIsAskedFor(_ options: String) {
        let fault = #expect(throws: Explanation.Fault.self) { try read("curl \(options) http://a.test/") }
        #expect(fault?.description.contains("reads a file") == true)
    }

    @Test(arguments: ["-H 'X; y'", "-H X"])
    func noHeader(_ options: String) {
        let fault = #expect(throws: Explanation.Fault.self) { try read("curl \(options) http://a.test/") }
        #expect(fault?.description.contains("has no colon") == true)
    }

    // MARK: messages

    @Test(arguments: [
        ("curl https://a.test/x?y", "GET /x?y HTTP/1.1"), ("curl https://a.test", "GET / HTTP/1.1"),
        ("curl 'https://a.test?y'", "GET /?y HTTP/1.1"),
        ("GET https://a.test/x HTTP/1.1\nHost: b.test\n\n", "GET /x HTTP/1.1"),
        ("GET https://a.test/x HTTP/1.0\nHost: a.test\n\n", "GET /x HTTP/1.0"),
    ])
    func inATunnelTheTargetIsAPath(_ text: String, _ expected: String) throws {
        let request = try read(text)
        #expect(line(request) == expected && request.head.url.hasPrefix("https://a.test"))
        #expect(request.tunnel == Origin(scheme: .https, host: "a.test", port: 443))
    }

    @Test(arguments: [("", ""), ("\n", ""), ("\r\n\n", ""), ("a\n", "a\n"), ("\na", "\na")])
    func blankLinesAreNoBody(_ text: String, _ expected: String) throws {
        let request = try read("POST http://a.test/ HTTP/1.1\nHost: a.test\n\n\(text)")
        #expect(body(request) == expected)
        #expect(request.head.fields["Content-Length"] == (expected.isEmpty ? nil : "\(expected.utf8.count)"))
        #expect(body(try read("POST http://a.test/ HTTP/1.1\nHost: a.test\nContent-Length: 1\n\n\n")) == "\n")
    }
}
