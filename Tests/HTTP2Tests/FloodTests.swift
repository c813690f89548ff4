import Formats
import HTTPCodec
import Testing

@testable import HTTP2

/// Each is cheap for who sends it: there is a number beyond which the connection ends (ENHANCE_YOUR_CALM), and with time
/// passing, as many again are nothing.
@Suite("Floods")
struct FloodTests {
    private static let post = Frame.block([":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"])

    private static let over = Frame.headers(1, post) + Frame.reset(1, 8)

    struct Row: Sendable {
        var name: String
        var fault: HTTPFault.Code
        var flood: Flood?
        var before: [UInt8] = []
        /// The frames of one turn.
        var turn: @Sendable (UInt32) -> [UInt8]
    }

    static let rows: [Row] = [
        Row(name: "rapid reset", fault: .tooManyResets, flood: .reset) {
            Frame.headers($0, post) + Frame.reset($0, 8)
        },
        Row(name: "made-you-reset, by grants", fault: .tooManyResets, flood: .reset) {
            Frame.headers($0, post) + Frame.grant($0, 0)
        },
        Row(name: "made-you-reset, by frames behind the end", fault: .tooManyResets, flood: .reset) {
            Frame.headers($0, post, end: true) + Frame.data($0, [1])
        },
        Row(name: "made-you-reset, by lengths", fault: .tooManyResets, flood: .reset) {
            Frame.headers($0, post + Frame.block(["content-length": "1"])) + Frame.data($0, [1, 2])
        },
        Row(name: "PING", fault: .tooManyPings, flood: .ping) { _ in Frame.ping() },
        Row(name: "answers to no PING", fault: .tooManyPings, flood: .ping) { _ in Frame.ping(answers: true) },
        Row(name: "resets of what is no more", fault: .tooManyResets, flood: .reset, before: over) { _ in
            Frame.reset(1, 8)
        },
        Row(name: "SETTINGS", fault: .tooManySettings, flood: .settings) { _ in Frame.settings() },
        Row(name: "WINDOW_UPDATE", fault: .tooManyWindowUpdates, flood: .windowUpdate) { _ in Frame.grant(0, 1) },
        Row(name: "PRIORITY", fault: .tooManyPriorities, flood: .priority) {
            Frame(kind: 2, stream: $0, payload: [0, 0, 0, 0, 16]).bytes
        },
        Row(name: "empty DATA", fault: .tooManyEmptyFrames, flood: .emptyData, before: Frame.headers(1, post)) { _ in
            Frame.data(1, [])
        },
        Row(name: "DATA of padding", fault: .tooManyEmptyFrames, flood: .emptyData, before: Frame.headers(1, post)) {
            _ in
            Frame.data(1, [], padding: 3)
        },
        Row(name: "unknown kinds", fault: .tooManyUnknownFrames, flood: .unknown) { _ in Frame(kind: 0xBE).bytes },
    ]

    @Test(arguments: rows.indices)
    func flood(_ index: Int) throws {
        let row = Self.rows[index]
        let talk = ServerTalk()
        _ = talk.feed(row.before)
        let flood = try #require(row.flood)
        var stream: UInt32 = 3
        func turns(_ count: Int) -> [Seen] {
            var all: [Seen] = []
            for _ in 0..<count where !talk.isOver {
                all += talk.feed(row.turn(stream))
                stream += 2
                #expect(talk.out.count < 4_096, "what is answered to a frame has a bound")
                if !talk.isOver { talk.out = [] }
            }
            return all
        }
        let burst = Int(flood.measure.burst)
        // of some, one came by now
        #expect(!turns(burst - 2).contains(.failed(row.fault)), "\(row.name)")
        talk.now += 3_600_000
        #expect(!turns(burst).contains(.failed(row.fault)), "\(row.name): with time they come back")
        #expect(turns(2 + burst / 10).last == .failed(row.fault), "\(row.name)")
        let goodbye = talk.frames().last
        #expect(goodbye?.kind == 7 && goodbye?.number(at: 4) == 11, "\(row.name)")
    }

    @Test("Streams that were answered and then given up are no flood")
    func answered() {
        let talk = ServerTalk()
        for turn in 0..<UInt32(1_000) {
            let stream = 1 + 2 * turn
            _ = talk.feed(Frame.headers(stream, Self.post))
            talk.codec.respond(
                ResponseHead(status: 200, reason: ""), .chunked, ResponseManner(), on: StreamID(stream), to: &talk.out)
            #expect(talk.feed(Frame.reset(stream, 8)) == [.reset(stream)])
        }
    }

    @Test("Streams beyond their number")
    func refusals() {
        let talk = ServerTalk(maxStreams: 1)
        _ = talk.feed(Frame.headers(1, Self.post))
        var last: [Seen] = []
        for turn in 0..<UInt32(300) where !talk.isOver { last = talk.feed(Frame.headers(3 + 2 * turn, Self.post)) }
        #expect(last == [.failed(.tooManyRefusals)])
    }

    @Test("A run of CONTINUATION frames, in pieces as well", arguments: [false, true])
    func continuations(inPieces: Bool) {
        let talk = ServerTalk()
        let feed = inPieces ? talk.feedBytes : { talk.feed($0) }
        func run(_ stream: UInt32, _ count: Int) -> [UInt8] {
            var bytes = Frame.headers(stream, Self.post, end: true, whole: false)
            for index in 1...count { bytes += Frame.continuation(stream, [], whole: index == count) }
            return bytes
        }
        #expect(feed(run(1, FloodGuard.maxContinuations)).count == 2)
        #expect(feed(run(3, FloodGuard.maxContinuations + 1)) == [.failed(.tooManyContinuations)])
        let goodbye = talk.frames().last
        #expect(goodbye?.kind == 7 && goodbye?.number(at: 4) == 11)
    }

    @Test("Fields that unfold to many times their size")
    func bomb() {
        let talk = ServerTalk()
        // one field of 4,000 bytes goes into the table, and is then named by a byte each
        let value = [UInt8](repeating: 0x61, count: 4_000)
        let first = [0x40, 1, 0x78] + Frame.literal([], value).dropFirst(2)
        #expect(talk.feed(Frame.headers(1, Self.post + first, end: true)).count == 2)
        let few = [UInt8](repeating: 0x80 | 62, count: 20)
        #expect(talk.feed(Frame.headers(3, Self.post + few, end: true)) == [.broken(3, .headTooLarge)])
        let many = [UInt8](repeating: 0x80 | 62, count: 10_000)
        #expect(talk.feed(Frame.headers(5, Self.post + many, end: true)) == [.failed(.fieldsOutOfMeasure)])
        let goodbye = talk.frames().last
        #expect(goodbye?.kind == 7 && goodbye?.number(at: 4) == 11)
    }

    @Test("Grants for what was sent are none, however many frames they come in")
    func grants() {
        let talk = ServerTalk()
        _ = talk.feed(Frame.headers(1, Self.post, end: true))
        talk.codec.respond(
            ResponseHead(status: 200, reason: ""), .chunked, ResponseManner(), on: StreamID(1), to: &talk.out)
        let piece = [UInt8](repeating: 0, count: 1_000)
        for _ in 0..<5_000 {
            #expect(talk.codec.write(piece.span, on: StreamID(1), to: &talk.out))
            #expect(talk.feed(Frame.grant(1, 1_000) + Frame.grant(0, 1_000)) == [])
        }
        #expect(talk.codec.waiting(on: StreamID(1)) == 0)
    }
}
