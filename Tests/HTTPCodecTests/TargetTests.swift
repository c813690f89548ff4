import Addresses
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
        Good("GET http://Example.com./", .absolute, "example.com", 80, "/"),
        Good("GET http://example.com.:81/x", .absolute, "example.com", 81, "/x"),
        Good("GET http://127.0.0.1./", .absolute, "127.0.0.1", 80, "/"),
        Good("GET http://example.com:/a", .absolute, "example.com", 80, "/a"),
        Good("GET https://[::1]:", .absolute, "::1", 443, "/"),
        Good("CONNECT example.com.:443", .authority, "example.com", 443, "/"),
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
        ("GET http://:80/", .badAuthority), ("GET http://h:0/", .badAuthority),
        ("GET http://h:65536/", .badAuthority), ("GET http://h:123456/", .badAuthority),
        ("GET http://h:8a/", .badAuthority), ("GET http://h:+80/", .badAuthority), ("GET http://h!/", .badAuthority),
        ("GET http://[::1/", .badAuthority), ("GET http://[]/", .badAddress), ("GET http://[::g]/", .badAddress),
        ("GET http://[::1]x/", .badAuthority), ("GET http://[fe80::1%25eth0]/", .badAddress),
        ("GET http://user@h/", .userInfoInTarget), ("GET http://user:password@h/", .userInfoInTarget),
        ("GET http://u:1@h/", .userInfoInTarget), ("GET ftp://h/", .unsupportedScheme),
        ("GET ws://h/", .unsupportedScheme), ("CONNECT h", .badAuthority), ("CONNECT http://h:80/", .badAuthority),
        ("GET http://[fe80::1%eth0]/", .badAddress), ("GET http://[127.0.0.1]/", .badAddress),
        ("GET http://[:]/", .badAddress), ("GET http://[::1::]/", .badAddress), ("CONNECT [127.0.0.1]:80", .badAddress),
        ("GET http://./", .emptyLabel), ("GET http://a../", .emptyLabel), ("GET http://.a/", .emptyLabel),
        ("GET http://a..b/", .emptyLabel), ("CONNECT a..:443", .emptyLabel),
        ("GET http://%65xample.com/", .percentInHost), ("GET http://b\u{FC}cher.example/", .nonASCIIHost),
        ("GET http://us%65r@h/", .userInfoInTarget), ("GET http://a\\@h/", .badAuthority),
        ("GET http://a~b/", .badAuthority),
        ("CONNECT h:", .badAuthority), ("CONNECT u@h:80", .userInfoInTarget), ("CONNECT /", .badAuthority),
    ])
    func faults(_ line: String, _ code: HTTPFault.Code) {
        guard case .fault(let fault) = readRequest("\(line) HTTP/1.1\r\nHost: h\r\n\r\n") else {
            Issue.record("\(line) was accepted")
            return
        }
        #expect(fault.code == code)
    }

    @Test("A label has 63 characters at most and a name 253, the dot at its end aside")
    func lengths() throws {
        let label = String(repeating: "a", count: 63)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253)
        for host in [label, "\(label).", name, "\(name)."] {
            let head = try requestHead("GET http://\(host)/ HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(head.host == (host.hasSuffix(".") ? String(host.dropLast()) : host))
        }
        for host in ["\(label)a", "\(label)a.example", "x.\(label)a.", "\(name)b", "\(name)b."] {
            guard case .fault(let fault) = readRequest("GET http://\(host)/ HTTP/1.1\r\nHost: h\r\n\r\n") else {
                Issue.record("\(host) was accepted")
                continue
            }
            #expect(fault.code == .hostTooLong)
        }
    }

    @Test("The bytes that travel on keep what the client wrote, but for an empty port")
    func authorities() throws {
        for (written, kept) in [("Example.com.", "Example.com."), ("h:", "h"), ("h:80", "h:80"), ("[::1]:", "[::1]")] {
            let head = try requestHead("GET http://\(written)/ HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(head.fields.text(head.target.authority) == kept)
        }
    }

    @Test(
        "A URL is told in its normal form",
        arguments: [
            ("HTTP://EXAMPLE.com./A?b", "http://example.com/A?b"), ("http://h:80/", "http://h/"),
            ("https://h:80/", "https://h:80/"), ("http://[0:0::1]:/", "http://[::1]/"),
        ])
    func urls(_ written: String, _ normal: String) throws {
        #expect(try RequestHead(method: "GET", url: written).url == normal)
    }

    @Test("Two spellings of one IPv6 address are one host, in the target, in Host and in a tunnel")
    func addresses() throws {
        var head = try requestHead("GET http://[2001:DB8:0::0001]/ HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "2001:db8::1")
        head = try requestHead("GET / HTTP/1.1\r\nHost: [0:0:0:0:0:0:0:1]:8080\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "::1")
        #expect(head.target.port == 8080)
        head = try requestHead("GET http://[::ffff:c000:201]/ HTTP/1.1\r\nHost: h\r\n\r\n")
        try head.settleHost()
        #expect(head.host == "192.0.2.1")
        head = try requestHead("CONNECT [::0:1]:443 HTTP/1.0\r\n\r\n")
        try head.settleHost(scheme: .https)
        #expect(head.host == "::1")
    }

    @Test(
        "Hosts of configurations and programs have the same form",
        arguments: [
            ("Example.COM", "example.com"), ("example.com.", "example.com"), ("example.com..", "example.com."),
            ("*.Example.com.", "*.example.com"), ("127.0.0.1.", "127.0.0.1"), ("2001:DB8::0:1", "2001:db8::1"),
            ("::FFFF:127.0.0.1", "127.0.0.1"),
            (".", "."), ("", ""),
        ])
    func names(_ written: String, _ normal: String) { #expect(HostName.normalized(written) == normal) }

    @Test(
        "… and so has a host with its port",
        arguments: [
            ("*.Example.com.:8443", "*.example.com:8443"), ("Example.com.", "example.com"), ("[0::1]:81", "[::1]:81"),
            ("[::ffff:192.0.2.1]", "192.0.2.1"), ("*:*", "*:*"), ("[", "["), ("", ""),
        ])
    func authoritiesOfGlobs(_ written: String, _ normal: String) {
        #expect(HostName.normalized(authority: written) == normal)
    }
}
