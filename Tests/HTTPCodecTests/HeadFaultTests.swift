import HTTPCodec
import TestInputs
import Testing

/// Every fault that a head can have, its place, and that it is found in whatever pieces the bytes come.
struct HeadFaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var code: HTTPFault.Code
        var offset: Int
        var testDescription: String { "\(code): \(text.debugDescription.prefix(60))" }

        init(_ text: String, _ code: HTTPFault.Code, at offset: Int) {
            self.text = text
            self.code = code
            self.offset = offset
        }
    }

    static let startLines = [
        Case("GET\r\n\r\n", .badRequestLine, at: 0),
        Case(" GET / HTTP/1.1\r\n\r\n", .badRequestLine, at: 0),
        Case("GET /\r\n\r\n", .badRequestLine, at: 5),
        Case("GET  / HTTP/1.1\r\n\r\n", .badRequestLine, at: 4),
        Case("GET / HTTP/1.1 \r\n\r\n", .badRequestLine, at: 5),
        Case("GET / x HTTP/1.1\r\n\r\n", .badVersion, at: 6),
        Case("GET /\u{0} HTTP/1.1\r\n\r\n", .badRequestLine, at: 5),
        Case("\r\n\r\nGET / HTTP/1.1\r\n\r\n", .badRequestLine, at: 2),
        Case("G(T / HTTP/1.1\r\n\r\n", .badMethod, at: 1),
        Case("GET\t/ HTTP/1.1\r\n\r\n", .badMethod, at: 3),
        Case("GET / HTTP/2.0\r\n\r\n", .badVersion, at: 11),
        Case("GET / HTTP/1.2\r\n\r\n", .badVersion, at: 13),
        Case("GET / http/1.1\r\n\r\n", .badVersion, at: 6),
        Case("GET / HTTP/1\r\n\r\n", .badVersion, at: 6),
        Case("GET / HTTP/1.1\n\r\n", .bareLineFeed, at: 14),
        Case("GET / HTTP/1.1\rX\r\n", .bareCarriageReturn, at: 14),
        Case("GET /\rHTTP/1.1\r\n", .bareCarriageReturn, at: 5),
    ]

    static let fields = [
        Case("A: b\nC: d\r\n\r\n", .bareLineFeed, at: 4),
        Case("A: b\rC: d\r\n\r\n", .bareCarriageReturn, at: 4),
        Case("A: b\r\n\n", .bareLineFeed, at: 6),
        Case("A: b\r\n\rx", .bareCarriageReturn, at: 6),
        Case("A: b\r\n c\r\n\r\n", .obsoleteFolding, at: 6),
        Case("A: b\r\n\tc\r\n\r\n", .obsoleteFolding, at: 6),
        Case(" A: b\r\n\r\n", .obsoleteFolding, at: 0),
        Case("A : b\r\n\r\n", .spaceBeforeColon, at: 1),
        Case("A\t: b\r\n\r\n", .spaceBeforeColon, at: 1),
        Case(": b\r\n\r\n", .badFieldName, at: 0),
        Case("A\r\n\r\n", .badFieldName, at: 1),
        Case("A(b): c\r\n\r\n", .badFieldName, at: 1),
        Case("\u{E9}: c\r\n\r\n", .badFieldName, at: 0),
        Case("A: b\u{0}\r\n\r\n", .badFieldValue, at: 4),
        Case("A: \u{1}\r\n\r\n", .badFieldValue, at: 3),
        Case("A: \u{7F}\r\n\r\n", .badFieldValue, at: 3),
        Case("A\u{0}: b\r\n\r\n", .badFieldValue, at: 1),
    ]

    private func expectFault(_ text: String, _ fault: HTTPFault) {
        let bytes = Array(text.utf8)
        for cuts in Pieces.cuts(bytes.count) {
            #expect(readRequest(bytes, cuts: cuts).reading == .fault(fault))
        }
    }

    @Test(arguments: startLines)
    func startLine(_ example: Case) {
        expectFault(example.text, HTTPFault(example.code, at: example.offset))
    }

    @Test(arguments: fields)
    func field(_ example: Case) {
        let start = "GET / HTTP/1.1\r\n"
        expectFault(start + example.text, HTTPFault(example.code, at: start.utf8.count + example.offset))
    }

    @Test("The same rules hold for a response", arguments: fields)
    func responseField(_ example: Case) {
        let start = "HTTP/1.1 200 OK\r\n"
        #expect(
            faultCode { () throws(HTTPFault) in
                var parser = HeadParser()
                var head = ResponseHead()
                _ = try parser.parse(Array((start + example.text).utf8).span, into: &head, limits: HeadLimits())
            } == example.code)
    }

    @Test("Each limit is told apart, whole and in pieces")
    func limits() {
        let limits = HeadLimits(bytes: 300, fields: 3, target: 100)
        func expect(_ text: String, _ code: HTTPFault.Code?) {
            let bytes = Array(text.utf8)
            for cuts in Pieces.cuts(bytes.count) {
                let reading = readRequest(bytes, cuts: cuts, limits: limits).reading
                switch (reading, code) {
                case (.head, nil): break
                case (.fault(let fault), .some(let expected)): #expect(fault.code == expected)
                default: Issue.record("\(reading) instead of \(String(describing: code))")
                }
            }
        }
        func filler(_ count: Int) -> String { String(repeating: "a", count: count) }
        expect("GET /\(filler(99)) HTTP/1.1\r\n\r\n", nil)
        expect("GET /\(filler(100)) HTTP/1.1\r\n\r\n", .targetTooLong)
        expect("GET /\(filler(1000)) HTTP/1.1\r\n\r\n", .targetTooLong)
        expect("GET /\(filler(1000))", .targetTooLong)
        expect(filler(1000), .targetTooLong)
        expect("\(filler(1000)) / HTTP/1.1\r\n\r\n", .targetTooLong)
        // 16 bytes of start line, 3 of name and separator, 4 of line ends
        expect("GET / HTTP/1.1\r\nA: \(filler(277))\r\n\r\n", nil)
        expect("GET / HTTP/1.1\r\nA: \(filler(278))\r\n\r\n", .headTooLarge)
        expect("GET / HTTP/1.1\r\nA: \(filler(2000))\r\n\r\n", .headTooLarge)
        expect("GET / HTTP/1.1\r\nA: \(filler(2000))\n", .headTooLarge)
        expect("GET / HTTP/1.1\r\nA: \(filler(2000))", .headTooLarge)
        expect("GET / HTTP/1.1\r\nA:\r\nB:\r\nC:\r\n\r\n", nil)
        expect("GET / HTTP/1.1\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n", .tooManyFields)
    }

    @Test("Limits that come down between two pieces of a head", arguments: [0, 1, 19, 20, 21])
    func loweredLimits(allowed: Int) throws {
        let lines = (0..<20).map { "X\($0): y\r\n" }.joined()
        let first = Array("GET / HTTP/1.1\r\n\(lines)".utf8)
        for (rest, code) in [("\r\n", nil), ("Z: z\r\n\r\n", allowed > 20 ? nil : HTTPFault.Code.tooManyFields)] {
            var parser = HeadParser()
            var head = RequestHead()
            #expect(try parser.parse(first.span, into: &head, limits: HeadLimits(fields: 128)) == nil)
            let whole = first + Array(rest.utf8)
            let limits = HeadLimits(fields: allowed)
            if let code {
                let fault = #expect(throws: HTTPFault.self) {
                    try parser.parse(whole.span, into: &head, limits: limits)
                }
                #expect(fault?.code == code)
            } else {
                #expect(try parser.parse(whole.span, into: &head, limits: limits) == whole.count)
            }
        }
    }

    @Test("Every fault has a status of its class and a sentence of its own")
    func words() {
        let sentences = HTTPFault.Code.allCases.map { HTTPFault($0, at: 0).explanation }
        #expect(Set(sentences).count == sentences.count)
        for code in HTTPFault.Code.allCases {
            #expect([400, 414, 431, 501, 505].contains(HTTPFault(code, at: 0).status))
        }
        #expect(HTTPFault(.targetTooLong, at: 0).status == 414)
        #expect(HTTPFault(.headTooLarge, at: 0).status == 431)
        #expect(HTTPFault(.tooManyFields, at: 0).status == 431)
        #expect(HTTPFault(.unknownTransferCoding, at: 0).status == 501)
        #expect(HTTPFault(.badVersion, at: 0).status == 505)
        #expect(HTTPFault(.lengthWithTransferEncoding, at: 0).status == 400)
    }
}
