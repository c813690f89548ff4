import Authorization
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
        "X.HTTP.Method.Override",
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
        "?_method[]=PUT", "?%09_method=PUT", "?[_method]=PUT", "??_method=PUT", "?_method%00=PUT", "?%255Fmethod=PUT",
        "?_HttpMethod=PUT", "?X-HTTP-Method-Override=PUT", "?%u005fmethod=PUT", "?_method%3DPUT",
    ])
    func parameters(_ query: String) throws {
        #expect(try method(query: query)?.contains("query") == true)
        #expect(try method(query: query, method: "GET") != nil)
    }

    // MARK: forms

    private static func type(_ text: String) -> (String, String) { ("Content-Type", text) }
    private static let form = type("application/x-www-form-urlencoded; charset=utf-8")
    private static let parts = type("multipart/form-data; boundary=b")

    private func part(_ name: String, _ value: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n"
            + "\(value)\r\n--b--\r\n"
    }

    @Test func forms() throws {
        for body in ["_method=DELETE", "a=b&%5Fmethod=put", "a;_method=PUT"] {
            #expect(try method([Self.form], body: body)?.contains("form") == true, "\(body)")
            // no form
            #expect(try method([Self.type("text/plain")], body: body) == nil)
            // looked for in a POST alone
            #expect(try method([Self.form], method: "PUT", body: body) == nil)
            #expect(try method([Self.form], method: "post", body: body) != nil)
        }
        #expect(try method([Self.form], body: "a=_method&_method=POST") == nil)
        #expect(try method([Self.form], body: "_method=POST&_method=DELETE") != nil)
        #expect(try method([Self.form], body: "") == nil)
        #expect(try method([Self.form], body: "method=DELETE&x=_method&my_method=a&_methods=b") == nil)
        #expect(try method([Self.parts], body: part("_method", "DELETE")) != nil)
        #expect(try method([Self.parts], body: part("method", "DELETE")) == nil)
        #expect(try method([Self.parts], body: part("_method", "POST")) == nil)
        #expect(try method([Self.parts], body: part("a", "_method=DELETE&_method")) == nil)
    }

    /// A form to some server, whatever its type says.
    @Test(arguments: [
        [], [type("")], [type("application/x-www-form-urlencoded, x")], [type("x, application/x-www-form-urlencoded")],
        [type("application/x-www-form-urlencoded x")], [type("text/plain"), form], [form, type("text/plain")],
        [type("text/plain; x=\"application/x-www-form-urlencoded\"")], [("Content_Type", form.1), type("text/plain")],
        [type("application/json, application/x-www-form-urlencoded")], [type("application/x-unheard-of")],
        [type("form")], [type("text/x-www-form-urlencoded")],
    ])
    func whatIsAFormToSomeServer(_ lines: [(String, String)]) throws {
        #expect(try method(lines, body: "_method=DELETE") != nil, "\(lines)")
        #expect(try method(lines, body: "a=b&%5Fmethod=DELETE") != nil)
        #expect(try method(lines, body: "a=b") == nil)
        #expect(try method(lines, body: "_method=POST") == nil)
    }

    @Test(arguments: [
        "application/xml", "text/xml; charset=utf-8", "application/soap+xml", "application/octet-stream", "image/png",
        "application/protobuf", "application/grpc", "text/plain", "application/pdf", "application/vnd.acme.thing",
    ])
    func whatIsAFormToNone(_ type: String) throws {
        #expect(try method([Self.type(type)], body: "_method=DELETE") == nil)
        #expect(try method([Self.type(type)], body: nil) == nil)
    }

    @Test(arguments: [
        "%00_method=DELETE", "%09_method=DELETE", "%0A_method=DELETE", "%0b%0C%0D+_method=DELETE", "\0_method=DELETE",
        "a=b&\r\n_method=DELETE", "_method%00=DELETE", ".method=DELETE", "[_method]=DELETE", "_method[]=DELETE",
        "_method[x]=DELETE", "X-HTTP-Method-Override=DELETE", "%255Fmethod=DELETE", "?_method=DELETE", "_method",
        "_method+=DELETE",
    ])
    func namesThatServersReadOtherwise(_ body: String) throws {
        #expect(try method([Self.form], body: body) != nil, "\(body)")
    }

    @Test(arguments: [
        "name=\"_method\"", "name=_method", "name = \"_method\"", "NAME='_method'", "name*=utf-8''_method",
        "name*=UTF-8''%5Fmethod", "name=\"\t_method\"", "name=\"\0_method\"", "name=\"\n\u{b}\u{c} _method\"",
        "name=\"_meth\\od\"", "name=\"_method[]\"", "filename=\"x\"; name=\"_method\"", "name=\"x\"; name=\"_method\"",
        "name*0=\"_met\"; name*1=\"hod\"", "name=\"=?utf-8?q?=5Fmethod?=\"", "name=\".method\"",
        "x\r\nContent-ID: <_method>", "name=\r\n \"_method\"",
    ])
    func namesOfParts(_ disposition: String) throws {
        let body = "--b\r\nContent-Disposition: form-data; \(disposition)\r\n\r\nDELETE\r\n--b--\r\n"
        for type in [
            "multipart/form-data; boundary=b", "multipart/mixed; boundary=b",
            "multipart/form-data; boundary=a; boundary=b",
            "multipart/form-data", "multipart/related; boundary=\"b\"", "multipart/form-data, x; boundary=b",
        ] {
            #expect(try method([Self.type(type)], body: body) != nil, "\(type)")
        }
        #expect(try method([], body: body) != nil)
    }

    /// Some server parts it elsewhere.
    @Test func partsWithinParts() throws {
        let inner = "x\n--c\nContent-Disposition: form-data; name=\"_method\"\n\nDELETE\n--c--"
        #expect(try method([Self.parts], body: part("a", inner)) != nil)
        #expect(try method([Self.parts], body: part("_method", "POST") + part("_method", "DELETE")) != nil)
    }

    /// Laravel takes a JSON text's members for parameters.
    @Test func json() throws {
        for type in ["application/json", "application/json; charset=utf-8", "text/json", "application/vnd.a+json"] {
            let lines = [Self.type(type)]
            for body in [
                #"{"_method":"DELETE"}"#, #"{"a":1, "\u005fmethod" : "put"}"#, #"{"_method":"POST","_method":"PUT"}"#,
                #"{"_METHOD":1}"#, #"{"_method":"PUT",}"#,
            ] {
                #expect(try method(lines, body: body)?.contains("JSON") == true, "\(body)")
            }
            for body in [
                #"{"_method":"POST"}"#, #"{"a":{"_method":"PUT"}}"#, #"{"a":"_method"}"#, #"[{"_method":"PUT"}]"#,
                "_method=DELETE", #"{"my_method":"PUT"}"#,
            ] {
                #expect(try method(lines, body: body) == nil, "\(body)")
            }
            #expect(try method(lines, method: "PUT", body: #"{"_method":"DELETE"}"#) == nil)
        }
    }

    /// What cannot be looked through is not taken for harmless.
    @Test func whatCannotBeRead() throws {
        #expect(try method([Self.form], body: nil)?.contains("not kept whole") == true)
        #expect(try method([], body: nil)?.contains("not kept whole") == true)
        #expect(try method([Self.type("multipart/form-data; boundary=a; boundary=b")], body: nil) != nil)
        for kind in [Self.form, Self.parts, Self.type("application/json")] {
            #expect(
                try method([kind, ("Content-Encoding", "gzip")], body: "_method=PUT")?.contains("cannot be read")
                    == true)
            #expect(try method([kind, ("Content-Encoding", "gzip")], body: nil) != nil)
            #expect(
                try method([kind, ("Content-Range", "bytes 0-1/9")], body: "a=b")?.contains("cannot be read") == true)
        }
        for charset in ["utf-16", "ibm037", "\"UTF-7\"", "x"] {
            let lines = [Self.type("application/x-www-form-urlencoded; charset=\(charset)")]
            #expect(try method(lines, body: "a=b")?.contains("cannot be read") == true)
        }
        for charset in ["utf-8", "\"UTF-8\"", "iso-8859-1", "us-ascii", "windows-1252"] {
            let lines = [Self.type("application/x-www-form-urlencoded; charset=\(charset)")]
            #expect(try method(lines, body: "a=b") == nil)
        }
    }

    /// A gzip member whose comment is a form to a server that takes no coding off; it unfolds to `a=b`.
    @Test func aFormInACoding() throws {
        let member: [UInt8] =
            [0x1F, 0x8B, 8, 16, 0, 0, 0, 0, 0, 255] + Array("&_method=DELETE&".utf8) + [0]
            + [0x4B, 0xB4, 0x4D, 0x02, 0x00, 0xCF, 0x30, 0x00, 0x7F, 3, 0, 0, 0]
        let head = try request("POST", "https://h.test/a", [Self.form, ("Content-Encoding", "gzip")])
        #expect(HiddenRequest.method(in: head, member, limit: 1 << 20)?.contains("cannot be read") == false)
    }

    /// A large form costs no more than its size.
    @Test func manyNames() throws {
        #expect(try method([], body: String(repeating: "item=%41;", count: 20_000)) == nil)
        #expect(try method([], body: String(repeating: "_method=POST&", count: 2000)) != nil)
    }

    /// These go on as they come, and are looked through as they pass.
    @Test(arguments: ["multipart/form-data; boundary=b", "multipart/mixed; boundary=b", "application/json"])
    func whatPasses(_ type: String) throws { #expect(try method([Self.type(type)], body: nil) == nil) }

    @Test func urls() throws {
        for name in ["X-Original-URL", "x-rewrite-url", "X_Rewrite_Url", "X.Original.URL"] {
            #expect(try HiddenRequest.urlField(in: request("GET", "https://h.test/", [(name, "/admin")])) == name)
        }
        #expect(try HiddenRequest.urlField(in: request("GET", "https://h.test/", [("X-Original", "/x")])) == nil)
    }
}
