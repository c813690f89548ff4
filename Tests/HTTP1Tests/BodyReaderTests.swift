import HTTP1
import HTTPCodec
import Testing

@Suite("The framing taken off a body")
struct BodyReaderTests {
    /// What comes out of a body that arrives in pieces of so many bytes.
    private func read(
        _ text: String, _ framing: BodyFraming, pieces: Int
    ) throws -> (body: String, left: Int, isComplete: Bool) {
        var reader = BodyReader()
        reader.begin(framing, maxTrailerBytes: 1024)
        let bytes = Array(text.utf8)
        var body: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            var position = 0
            loop: while true {
                switch try reader.next(piece.span, &position) {
                case .data(let range): body += piece[range]
                case .end: return (String(decoding: body, as: UTF8.self), bytes.count - start - position, true)
                case .needsMore: break loop
                }
            }
            #expect(position == piece.count)
            start += piece.count
        }
        return (String(decoding: body, as: UTF8.self), 0, reader.isComplete)
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func everyFraming(_ pieces: Int) throws {
        #expect(try read("", .none, pieces: pieces) == ("", 0, true))
        #expect(try read("hello", .length(5), pieces: pieces) == ("hello", 0, true))
        #expect(try read("hell", .length(5), pieces: pieces) == ("hell", 0, false))
        #expect(try read("5\r\nhello\r\n0\r\n\r\n", .chunked, pieces: pieces) == ("hello", 0, true))
        #expect(try read("5\r\nhello\r\n0\r\n", .chunked, pieces: pieces) == ("hello", 0, false))
        #expect(try read("hello", .untilClose, pieces: pieces) == ("hello", 0, false))
    }

    @Test func whatFollowsIsLeft() throws {
        #expect(try read("helloGET", .length(5), pieces: 100) == ("hello", 3, true))
        #expect(try read("5\r\nhello\r\n0\r\n\r\nGET", .chunked, pieces: 100) == ("hello", 3, true))
    }

    @Test func trailersAreThoseOfOneMessage() throws {
        var reader = BodyReader()
        let bytes = Array("0\r\nA: b\r\n\r\n".utf8)
        for framing in [BodyFraming.none, .length(1), .chunked, .untilClose] {
            reader.begin(.chunked, maxTrailerBytes: 100)
            var position = 0
            let event = try reader.next(bytes.span, &position)
            #expect(event == .end && reader.trailers == Array("A: b\r\n".utf8))
            reader.begin(framing, maxTrailerBytes: 100)
            #expect(reader.trailers == [])
        }
    }

    @Test func rawBytes() {
        var reader = BodyReader()
        #expect(reader.raw == nil)
        reader.begin(.length(10), maxTrailerBytes: 0)
        #expect(reader.raw == 10)
        reader.passed(4)
        #expect(reader.raw == 6 && !reader.isComplete)
        reader.passed(6)
        #expect(reader.raw == nil && reader.isComplete)
        reader.begin(.untilClose, maxTrailerBytes: 0)
        #expect(reader.raw == .max)
        reader.passed(1000)
        #expect(reader.raw == .max && !reader.isComplete)
        reader.begin(.chunked, maxTrailerBytes: 0)
        #expect(reader.raw == nil)
    }

    @Test func theEndOfTheConnectionEndsOneKind() {
        for framing in [BodyFraming.length(3), .chunked] {
            var reader = BodyReader()
            reader.begin(framing, maxTrailerBytes: 0)
            let isEnd = reader.connectionEnded()
            #expect(!isEnd && !reader.isComplete)
        }
        var reader = BodyReader()
        reader.begin(.untilClose, maxTrailerBytes: 0)
        let isEnd = reader.connectionEnded()
        #expect(isEnd && reader.isComplete)
    }
}
