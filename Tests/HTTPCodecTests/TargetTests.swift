import HTTPCodec
import Testing

struct TargetTests {
    struct Good: Sendable, CustomTestStringConvertible {
        var line: String
        var form: Target.Form
        var host: String
        var port: UInt16
        var path: String
        var query: String?
        var testDescription: String { line }

        init(
            _ line: String, _ form: Target.Form, _ host: String, _ port: UInt16, _ path: String, _ query: String? = nil
        ) {
            self.line = line
            self.form = form
            self.host = host
            self.port = port
            self.path = path
            self.query = query
        }
    }

    @Test(arguments: [
        Good("GET http://example.com/", .absolute, "example.com", 80, "/"),
        Good("GET http://example.com", .absolute, "example.com", 80, "/"),
        Good("GET HTTP://EXAMPLE.com/A", .absolute, "example.com", 80, "/A"),
        Good("GET https://example.com/a", .absolute, "example.com", 443, "/a"),
        Good("GET http://example.com:8080/a?b=c?d", .absolute, "example.com", 8080, "/a", "b=c?d"),
        Good("GET http://example.com?q", .absolute, "example.com", 80, "/", "q"),
        Good("GET http://example.com/?", .absolute, "example.com", 80, "/", ""),
        Good("GET http://[::1]:81/x", .absolute, "::1", 81, "/x"),
        Good("GET http://[2001:DB8::1]/x", .absolute, "2001:db8::1", 80, "/x"),
        Good("GET http://[::ffff:192.0.2.1]/", .absolute, "::ffff:192.0.2.1", 80, "/"),
        Good("GET http://my_host-1.test/", .absolute, "my_host-1.test", 80, "/"),
        Good("GET http://h:1/", .absolute, "h", 1, "/"),
        Good("GET http://h:65535/", .absolute, "h", 65535, "/"),
        Good("GET http://h/a|b{c}\"<>\\^`", .absolute, "h", 80, "/a|b{c}\"<>\\^`"),
        Good("GET http://h/a/../b//c", .absolute, "h", 80, "/a/../b//c"),
        Good("GET /a?b", .origin, "", 0, "/a", "b"),
        Good("GET //double/slash", .origin, "", 0, "//double/slash"),
        Good("OPTIONS *", .asterisk, "", 0, "*"),
        Good("CONNECT example.com:443", .authority, "example.com", 443, "/"),
        Good("CONNECT [::1]:80", .authority, "::1", 80, "/"),
    ])
    func good(_ example: Good) throws {
        let head = try requestHead("\(example.line) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(head.target.form == example.form)
        #expect(head.host == example.host)
        #expect(head.target.port == example.port)
        #expect(head.path == example.path)
        #expect(head.query == example.query)
    }

    @Test(arguments: [
        ("GET http:/example.com/", HTTPFault.Code.badTarget), ("GET http:", .badTarget),
        ("GET example.com", .badTarget),
        ("GET *", .badTarget), ("GET http://h/a#b", .badTarget), ("GET ?q", .badTarget), ("GET h_p://h/", .badTarget),
        ("GET http://", .badAuthority), ("GET http:///a", .badAuthority), ("GET http://?a", .badAuthority),
        ("GET http://:80/", .badAuthority), ("GET http://h:/", .badAuthority), ("GET http://h:0/", .badAuthority),
        ("GET http://h:65536/", .badAuthority), ("GET http://h:123456/", .badAuthority),
        ("GET http://h:8a/", .badAuthority), ("GET http://h:+80/", .badAuthority), ("GET http://h!/", .badAuthority),
        ("GET http://[::1/", .badAuthority), ("GET http://[]/", .badAuthority), ("GET http://[::g]/", .badAuthority),
        ("GET http://[::1]x/", .badAuthority), ("GET http://[fe80::1%25eth0]/", .badAuthority),
        ("GET http://user@h/", .userInfoInTarget), ("GET http://user:password@h/", .userInfoInTarget),
        ("GET http://u:1@h/", .userInfoInTarget), ("GET ftp://h/", .unsupportedScheme),
        ("GET ws://h/", .unsupportedScheme), ("CONNECT h", .badAuthority), ("CONNECT http://h:80/", .badAuthority),
        ("CONNECT h:", .badAuthority), ("CONNECT u@h:80", .userInfoInTarget), ("CONNECT /", .badAuthority),
    ])
    func faults(_ line: String, _ code: HTTPFault.Code) {
        guard case .fault(let fault) = readRequest("\(line) HTTP/1.1\r\nHost: h\r\n\r\n") else {
            Issue.record("\(line) was accepted")
            return
        }
        #expect(fault.code == code)
    }
}
