import HTTPCodec
import Testing

@Suite("Frames that may not come")
struct StrictFrameTests {
    private static let open: [UInt8] = Frame.headers(
        1, [":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"])
    private static let whole: [UInt8] = Frame.headers(
        1, [":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/"], end: true)
    private static let next: [UInt8] = Frame.headers(
        3, [":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/"], end: true)

    /// What ends the stream alone, and the number that says why.
    static let streamErrors: [(String, UInt32, Seen, [UInt8], [UInt8])] = [
        ("DATA behind the end", 5, .violated(1, .closedStream), whole, Frame.data(1, [1])),
        ("HEADERS behind the end", 5, .violated(1, .closedStream), whole, Frame.headers(1, ["x": "y"], end: true)),
        ("a grant of nothing", 1, .violated(1, .badFrame), open, Frame.grant(1, 0)),
        ("a grant beyond the window", 3, .reset(1), open, Frame.grant(1, 0x7FFF_FFFF)),
        (
            "PRIORITY of a wrong length", 6, .violated(1, .badFrameSize), open,
            Frame(kind: 2, stream: 1, payload: [0, 0, 0, 0]).bytes
        ),
        (
            "PRIORITY behind itself", 1, .violated(1, .badFrame), open,
            Frame(kind: 2, stream: 1, payload: [0x80, 0, 0, 1, 9]).bytes
        ),
        (
            "trailers behind themselves", 1, .violated(1, .badFrame), open,
            Frame(kind: 1, flags: 0x25, stream: 1, payload: [0, 0, 0, 1, 9] + Frame.block(["x": "y"])).bytes
        ),
    ]

    /// A request with its priority in it.
    private static func prioritized(_ dependency: [UInt8], padding: UInt8? = nil) -> [UInt8] {
        let block = Frame.block([":method": "GET", ":scheme": "http", ":authority": "a.test", ":path": "/"])
        var frame = Frame(kind: 1, flags: 0x25, stream: 1, payload: dependency + [9] + block)
        if let padding {
            frame.flags |= Frame.padded
            frame.payload = [padding] + frame.payload + [UInt8](repeating: 0, count: Int(padding))
        }
        return frame.bytes
    }

    @Test("A request that is to wait for itself ends alone, and is no request", arguments: [false, true])
    func waitsForItself(inPieces: Bool) {
        for padding in [nil, 0, 7] as [UInt8?] {
            let talk = ServerTalk()
            _ = talk.frames()
            let bytes = Self.prioritized([0x80, 0, 0, 1], padding: padding)
            #expect((inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)) == [])
            #expect(talk.frames().map(\.bytes) == [Frame.reset(1, 1)])
            // what it said of fields is known all the same
            #expect(talk.feed(Self.next).count == 2)
        }
    }

    @Test("Other priorities change nothing", arguments: [false, true])
    func priorities(inPieces: Bool) {
        for padding in [nil, 0, 7] as [UInt8?] {
            for other in [[0, 0, 0, 0], [0x80, 0, 0, 3], [0, 0, 0, 0x11]] as [[UInt8]] {
                let talk = ServerTalk()
                let bytes = Self.prioritized(other, padding: padding)
                #expect((inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)).count == 2)
                talk.respond(1)
                #expect(talk.frames().filter { $0.stream == 1 }.map(\.kind) == [1, 0, 0])
            }
        }
    }

    @Test("An answer that is to wait for itself breaks its stream")
    func answerWaitsForItself() throws {
        let talk = ClientTalk()
        for _ in 0..<2 { try talk.ask() }
        let head = Frame(kind: 1, flags: 0x24, stream: 1, payload: [0, 0, 0, 1, 9] + Frame.block([":status": "200"]))
        #expect(talk.feed(head.bytes) == [.broken(1, .badFrame)])
        #expect(
            talk.feed(Frame.headers(3, [":status": "204"], end: true)) == [
                .head(2, "204 No Content", .none), .end(2, ""),
            ])
    }

    @Test(arguments: streamErrors.indices, [false, true])
    func streamError(_ index: Int, inPieces: Bool) {
        let (name, code, seen, before, bytes) = Self.streamErrors[index]
        let talk = ServerTalk()
        _ = talk.feed(before)
        _ = talk.frames()
        #expect((inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)) == [seen], "\(name)")
        #expect(talk.frames().map(\.bytes) == [Frame.reset(1, code)], "\(name)")
        #expect(talk.feed(Self.next).count == 2, "\(name)")
        talk.respond(3)
        #expect(talk.frames().count == 3, "\(name)")
    }

    @Test("More than the window is an error of the stream")
    func streamWindow() {
        let talk = ServerTalk()
        _ = talk.feed(Self.open)
        let piece = Frame.data(1, [UInt8](repeating: 0, count: 4_369))
        for _ in 0..<15 { #expect(talk.feed(piece, uses: false).count == 1) }
        _ = talk.frames()
        #expect(talk.feed(Frame.data(1, [1]), uses: false).contains(.reset(1)))
        #expect(talk.frames().map(\.bytes) == [Frame.reset(1, 3)])
        #expect(talk.feed(Self.next).count == 2)
    }

    @Test("A stream too many is refused alone, and the fields in it are read all the same")
    func oneTooMany() {
        let talk = ServerTalk(maxStreams: 2)
        func ask(_ stream: UInt32, _ block: [UInt8]) -> [Seen] { talk.feed(Frame.headers(stream, block)) }
        let block = Frame.block([":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"])
        #expect(ask(1, block).count == 1 && ask(3, block).count == 1)
        _ = talk.frames()
        // this one puts a field into the table that the next refers to
        let indexed = block + [0x40, 1, 0x78, 1, 0x79]
        #expect(ask(5, indexed) == [])
        #expect(talk.frames().map(\.bytes) == [Frame.reset(5, 7)])
        #expect(talk.feed(Frame.reset(1, 8)) == [.reset(1)])
        #expect(ask(7, block + [0x80 | 62]) == [.head(7, "POST http://a.test/\nHost: a.test\nx: y", .chunked)])
        #expect(talk.feed(Frame.data(5, [1])) == [])
    }

    /// What ends the connection, the fault, and the number that says why.
    static let connectionErrors: [(String, HTTPFault.Code, UInt32, [UInt8])] = [
        ("DATA on no stream", .badFrame, 1, Frame.data(0, [1])),
        ("DATA on a stream that never was", .badFrame, 1, Frame.data(5, [1])),
        ("HEADERS on no stream", .badFrame, 1, Frame.headers(0, ["x": "y"])),
        ("HEADERS on a stream of ours", .badFrame, 1, Frame.headers(2, ["x": "y"])),
        ("RST_STREAM on a stream that never was", .badFrame, 1, Frame.reset(5, 8)),
        ("RST_STREAM of a wrong length", .badFrameSize, 6, Frame(kind: 3, stream: 1, payload: [0]).bytes),
        ("WINDOW_UPDATE of a wrong length", .badFrameSize, 6, Frame(kind: 8, stream: 1, payload: [0]).bytes),
        ("WINDOW_UPDATE of nothing for all", .badFrame, 1, Frame.grant(0, 0)),
        ("WINDOW_UPDATE beyond the window for all", .windowExceeded, 3, Frame.grant(0, 0x7FFF_FFFF)),
        ("WINDOW_UPDATE on a stream that never was", .badFrame, 1, Frame.grant(5, 1)),
        ("PRIORITY on no stream", .badFrame, 1, Frame(kind: 2, payload: [0, 0, 0, 0, 0]).bytes),
        ("SETTINGS on a stream", .badFrame, 1, Frame(kind: 4, stream: 1).bytes),
        ("SETTINGS of a wrong length", .badFrameSize, 6, Frame(kind: 4, payload: [0]).bytes),
        ("SETTINGS with a window too large", .windowExceeded, 3, Frame.settings([(4, 0x8000_0000)])),
        ("SETTINGS with frames too small", .badFrame, 1, Frame.settings([(5, 1)])),
        ("PING on a stream", .badFrame, 1, Frame(kind: 6, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]).bytes),
        ("PING of a wrong length", .badFrameSize, 6, Frame(kind: 6, payload: [0]).bytes),
        ("PUSH_PROMISE of a client", .badFrame, 1, Frame(kind: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2]).bytes),
        ("CONTINUATION of nothing", .badFrame, 1, Frame.continuation(1, [])),
        (
            "something else between the fields", .badFrame, 1,
            Frame.headers(5, Frame.block(["x": "y"]), whole: false) + Frame.ping()
        ),
        ("fields that cannot be read", .badHeaderBlock, 9, Frame.headers(5, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])),
        ("a frame too large", .badFrameSize, 6, Frame.data(1, [UInt8](repeating: 0, count: (16 << 10) + 1))),
        ("padding beyond the frame", .badFrame, 1, Frame(kind: 0, flags: 8, stream: 1, payload: [9, 0]).bytes),
    ]

    @Test(arguments: connectionErrors.indices, [false, true])
    func connectionError(_ index: Int, inPieces: Bool) {
        let (name, fault, code, bytes) = Self.connectionErrors[index]
        let talk = ServerTalk()
        _ = talk.feed(Self.open)
        _ = talk.frames()
        let seen = inPieces ? talk.feedBytes(bytes) : talk.feed(bytes)
        #expect(seen.last == .failed(fault), "\(name): \(seen)")
        let goodbye = talk.frames().last
        #expect(goodbye?.kind == 7 && goodbye?.number(at: 4) == code, "\(name): \(String(describing: goodbye))")
    }

    @Test("What does not begin as HTTP/2", arguments: ["GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nXX"])
    func preface(_ text: String) {
        let talk = ServerTalk(begins: false)
        #expect(talk.feed(Array(text.utf8)) == [.failed(.badPreface)])
        let other = ServerTalk(begins: false)
        #expect(other.feed(Frame.preface + Frame.ping()) == [.failed(.badFrame)])
    }

    @Test("What the server says first: its settings, and the window of the connection")
    func settings() throws {
        let talk = ServerTalk(maxStreams: 7, begins: false)
        #expect(talk.feed([]) == [])
        let frames = talk.frames()
        #expect(frames.map(\.kind) == [4, 8])
        #expect(frames[0].bytes == Frame.settings([(3, 7), (6, 32 << 10), (9, 1), (8, 1)]))
        #expect(frames[1].bytes == Frame.grant(0, 6 * 65_535 + (4_352 << 10)))
    }
}
