import HTTPCodec
import Testing

/// A line that comes whole is looked at quickly; one that comes in pieces is not. Both are read alike.
struct RequestLineTests {
    private static let lines = [
        "GET http://a.test/p?q HTTP/1.1", "GET / HTTP/1.0", "X-LONG_METHOD http://a.test HTTP/1.1",
        "OPTIONS * HTTP/1.1", "CONNECT a.test:443 HTTP/1.1", "POST http://a.test.:08080?q HTTP/1.1",
        "GET http://a.test:123456/ HTTP/1.1", "GET http://a.test:0/ HTTP/1.1", "GET http://a..test/ HTTP/1.1",
        "GET http://[::1]:8080/ HTTP/1.1", "GET http://a.test:80x/ HTTP/1.1", "GET https://u:p@a.test/ HTTP/1.1",
    ]

    private func read(_ bytes: [UInt8], first: Int) -> String {
        var parser = HeadParser()
        var head = RequestHead()
        do throws(HTTPFault) {
            var used = try parser.parse(bytes.span.extracting(..<first), into: &head, limits: HeadLimits(target: 40))
            if used == nil { used = try parser.parse(bytes.span, into: &head, limits: HeadLimits(target: 40)) }
            let target = head.target
            return "\(used ?? 0) \(head.methodText) \(head.version) \(head.targetText) \(target.form) \(target.scheme) "
                + "\(head.fields.text(target.authority)) \(head.host) \(target.port) \(head.path) \(head.query ?? "-") "
                + "\(head.fields.lines)"
        } catch {
            return "\(error.code) at \(error.offset)"
        }
    }

    @Test(arguments: lines)
    func likeInPieces(_ line: String) {
        let text = Array("\(line)\r\nHost: a.test\r\nX_y:z \r\n\r\n".utf8)
        #expect(read(text, first: text.count) == read(text, first: 1))
        for place in text.indices {
            for byte in [0x00, 0x09, 0x0A, 0x0D, 0x20, 0x23, 0x2E, 0x2F, 0x30, 0x3A, 0x3F, 0x40, 0x7F, 0x80] as [UInt8]
            {
                var bytes = text
                bytes[place] = byte
                #expect(read(bytes, first: bytes.count) == read(bytes, first: 1), "\(byte) at \(place)")
                bytes.insert(text[place], at: place)
                #expect(read(bytes, first: bytes.count) == read(bytes, first: 1), "\(byte) before \(place)")
            }
        }
    }
}
