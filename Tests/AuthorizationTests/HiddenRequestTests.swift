import Authorization
import HTTPCodec
import Testing

@Suite("Requests that name another method or URL")
struct HiddenRequestTests {
    private func method(
        _ lines: [(String, String)] = [], query: String = "", method: String = "POST", body: String? = ""
    ) throws -> String? {
        try HiddenRequest.method(
            in: request(method, "https://h.test/a\(query)", lines), body.map { Array($0.utf8) }, limit: 1 << 20)
    }

    @Test(arguments: [
        "X-HTTP-Method-Override", "x-http-method", "X-Method-Override", "X_HTTP_Method_Override", "x-http_method",
    ])
    func fields(_ name: String) throws {
        #expect(try method([(name, "DELETE")])?.contains(name) == true)
        #expect(try method([(name, "DELETE")], method: "GET") != nil)
        #expect(try method([(name, "")]) != nil)
        #expect(try method([(name, "POST"), (name, "PUT")]) != nil)
        #expect(try method([(name, "post")]) == nil)
    }

    @Test(arguments: [
        "?_method=DELETE", "?x&%5fmethod=put", "?_METHOD=PUT", "?a;_method=PUT", "?+_method=x", "?.method=PUT",
    ])
    func parameters(_ query: String) throws {
        #expect(try method(query: query)?.contains("query") == true)
        #expect(try method(query: query, method: "GET") != nil)
    }

    private static let form = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
    private static let parts = ("Content-Type", "multipart/form-data; boundary=b")

    private func part(_ name: String, _ value: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n"
            + "\(value)\r\n--b--\r\n"
    }

    @Test func forms() throws {
        for body in ["_method=DELETE", "a=b&%5Fmethod=put", "a;_method=PUT"] {
            #expect(try method([Self.form], body: body)?.contains("form") == true, "\(body)")
            // no form
            #expect(try method([("Content-Type", "text/plain")], body: body) == nil)
            // looked for in a POST alone
            #expect(try method([Self.form], method: "PUT", body: body) == nil)
        }
        #expect(try method([Self.form], body: "a=_method&_method=POST") == nil)
        #expect(try method([Self.form], body: "") == nil)
        #expect(try method([Self.parts], body: part("_method", "DELETE")) != nil)
        #expect(try method([Self.parts], body: part("method", "DELETE")) == nil)
        #expect(try method([Self.parts], body: part("_method", "POST")) == nil)
    }

    /// What cannot be looked through is not taken for harmless; files may be of any size.
    @Test func whatCannotBeRead() throws {
        #expect(try method([Self.form], body: nil)?.contains("not kept whole") == true)
        #expect(try method([Self.parts], body: nil) == nil)
        #expect(try method([Self.parts], body: "no parts")?.contains("cannot be read") == true)
        #expect(try method([Self.form, ("Content-Encoding", "gzip")], body: "_method=PUT") != nil)
        #expect(try method([("Content-Type", "text/plain"), Self.form], body: "_method=PUT") != nil)
    }

    @Test func urls() throws {
        for name in ["X-Original-URL", "x-rewrite-url", "X_Rewrite_Url"] {
            #expect(try HiddenRequest.urlField(in: request("GET", "https://h.test/", [(name, "/admin")])) == name)
        }
        #expect(try HiddenRequest.urlField(in: request("GET", "https://h.test/", [("X-Original", "/x")])) == nil)
    }
}
