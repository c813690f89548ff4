import HTTPCodec
import TestInputs
import Testing

struct ChunkedDecoderTests {
    /// What came out of a chunked body: bytes, trailers, and the offset at which it ended.
    struct Outcome: Equatable {
        var body: [UInt8] = []
        var trailers = ""
        var end: Int?
        var fault: HTTPFault?
    }

    /// Feeds the pieces between `cuts`, each as an input of its own.
    private func decode(_ bytes: [UInt8], cuts: [Int], maxTrailerBytes: Int = 1000) -> Outcome {
        var decoder = ChunkedDecoder(maxTrailerBytes: maxTrailerBytes)
        var outcome = Outcome()
        var start = 0
        for end in cuts {
            let piece = Array(bytes[start..<end])
            var position = 0
            do throws(HTTPFault) {
                events: while true {
                    switch try decoder.next(piece.span, &position) {
                    case .data(let range): outcome.body += piece[range]
                    case .end:
                        outcome.end = start + position
                        outcome.trailers = String(decoding: decoder.trailers, as: UTF8.self)
                        return outcome
                    case .needsMore:
                        #expect(position == piece.count)
                        break events
                    }
                }
            } catch {
                outcome.fault = error
                return outcome
            }
            start = end
        }
        return outcome
    }

    private func expect(_ text: String, _ check: (Outcome) -> Void) {
        let bytes = Array(text.utf8)
        let whole = decode(bytes, cuts: [bytes.count])
        check(whole)
        for cuts in Pieces.cuts(bytes.count) { #expect(decode(bytes, cuts: cuts) == whole) }
    }

    @Test(arguments: [
        ("0\r\n\r\n", "", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello", ""),
        ("5\r\nhello\r\n00001\r\n!\r\n000\r\n\r\n", "hello!", ""),
        ("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""),
        ("1;a\r\nx\r\n1;a=b;c=\"d;\\\"\r\"\r\nx\r\n0\r\n\r\n".replacing("\r\"", with: "\""), "xx", ""),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n", ""),
        ("0\r\nA: b\r\nC:  d \r\n\r\n", "", "A: b\r\nC:  d \r\n"),
    ])
    func good(_ text: String, _ body: String, _ trailers: String) {
        expect(text) { outcome in
            #expect(outcome.fault == nil)
            #expect(outcome.body == Array(body.utf8))
            #expect(outcome.trailers == trailers)
            #expect(outcome.end == text.utf8.count)
        }
    }

    @Test("What follows the body is left alone")
    func next() {
        expect("1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n") { outcome in
            #expect(outcome.body == Array("x".utf8))
            #expect(outcome.end == 11)
        }
    }

    @Test(
        "A body that is cut off goes on needing more",
        arguments: [
            "", "5", "5\r", "5\r\n", "5\r\nhell", "5\r\nhello", "5\r\nhello\r", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n",
            "0\r\n\r", "0\r\nA: b\r\n",
        ])
    func unfinished(_ text: String) {
        expect(text) { outcome in
            #expect(outcome.end == nil)
            #expect(outcome.fault == nil)
        }
    }

    @Test(arguments: [
        ("\r\n", HTTPFault.Code.badChunkSize, 0), ("x\r\n", .badChunkSize, 0), ("-1\r\n", .badChunkSize, 0),
        (" 5\r\nhello", .badChunkSize, 0), ("5 \r\nhello", .badChunkSize, 1), ("0x5\r\n", .badChunkSize, 1),
        ("5\nhello", .badChunkSize, 1), ("5\rxhello", .badChunkSize, 2), ("+5\r\n", .badChunkSize, 0),
        ("0000000000000005\r\n", .badChunkSize, 15), ("FFFFFFFFFFFFFFFF\r\n", .badChunkSize, 15),
        ("5;\r\nhello", .badChunkExtension, 2), ("5; a\r\n", .badChunkExtension, 2),
        ("5;a b\r\n", .badChunkExtension, 3), ("5;a=\"\u{1}\"\r\n", .badChunkExtension, 5),
        ("5;a=\"\\\r\n", .badChunkExtension, 6), ("5;a\n", .badChunkExtension, 3),
        ("5\r\nhello!\r\n", .badChunkEnd, 8), ("5\r\nhello\n", .badChunkEnd, 8), ("5\r\nhello\rx", .badChunkEnd, 9),
        ("0\r\nA: b\n", .bareLineFeed, 7), ("0\r\nA: b\rx", .bareCarriageReturn, 8),
        ("0\r\nA: \u{0}\r\n", .badFieldValue, 6), ("0\r\nA : b\r\n\r\n", .spaceBeforeColon, 4),
        ("0\r\nA: b\r\n c\r\n\r\n", .obsoleteFolding, 9), ("0\r\nAb\r\n\r\n", .badFieldName, 5),
    ])
    func faults(_ text: String, _ code: HTTPFault.Code, _ offset: Int) {
        expect(text) { outcome in #expect(outcome.fault == HTTPFault(code, at: offset)) }
    }

    @Test func limits() {
        expect("0\r\nA: " + String(repeating: "b", count: 2000)) { outcome in
            #expect(outcome.fault?.code == .trailersTooLarge)
        }
        expect("1;" + String(repeating: "b", count: 5000)) { outcome in
            #expect(outcome.fault?.code == .chunkLineTooLong)
        }
        expect("1;a=\"" + String(repeating: "b", count: 5000)) { outcome in
            #expect(outcome.fault?.code == .chunkLineTooLong)
        }
    }

    @Test("The largest chunk that may be announced is counted without overflow")
    func largest() throws {
        var decoder = ChunkedDecoder()
        let bytes = Array("FFFFFFFFFFFFFFF\r\nabc".utf8)
        var position = 0
        #expect(try decoder.next(bytes.span, &position) == .data(17..<20))
        #expect(try decoder.next(bytes.span, &position) == .needsMore)
    }
}
