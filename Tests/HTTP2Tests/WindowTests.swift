import HTTPCodec
import Testing

@testable import HTTP2

/// What an origin may send of responses, as its own end of the connection sees it.
private struct Origin {
    let talk = ClientTalk(nil)
    var windows = PeerWindows()
    private var pings: [Frame] = []

    init() throws {
        _ = talk.feed(Frame.settings() + Frame.settingsAnswer)
        hear()
    }

    mutating func hear() {
        let frames = talk.frames()
        windows.note(frames)
        pings += frames.filter { $0.kind == 6 && $0.flags == 0 }
    }

    /// - Returns: the stream's number in frames.
    mutating func answer(_ method: String = "GET") throws -> UInt32 {
        let framing = method == "GET" ? BodyFraming.none : .chunked
        let stream = try talk.ask(method, "http://a.test/", [:], Forwarding(framing: framing))
        let id = 2 * stream - 1
        hear()
        #expect(talk.feed(Frame.headers(id, [":status": "200"])) == [.head(stream, "200 OK", .chunked)])
        return id
    }

    /// Sends what it may, up to so many bytes; how many these were.
    @discardableResult
    mutating func send(_ id: UInt32, _ count: Int = .max, uses: Bool = true) -> Int {
        var sent = 0
        for case .data(_, let bytes) in talk.feed(windows.send(id, count), uses: uses) { sent += bytes.count }
        hear()
        return sent
    }

    /// What came of a stream is used.
    mutating func use(_ id: UInt32, _ count: Int) {
        talk.use(count, of: (id + 1) / 2)
        hear()
    }

    /// Has all of a stream's window come and be taken until it gets no larger; how large it is then.
    mutating func grow(_ id: UInt32) -> Int {
        for _ in 0..<4 { send(id, windows.room(id)) }
        return windows.room(id)
    }

    /// Answers the PINGs that ask how long the way is.
    mutating func pong() {
        for var ping in pings {
            ping.flags = 1
            #expect(talk.feed(ping.bytes) == [])
        }
        pings = []
        hear()
    }
}

@Suite("Windows of what is read")
struct WindowTests {
    private let kib = 1 << 10

    @Test("A stream begins with 64 KiB, and gets twice that, and four times, behind bytes that were taken")
    func one() throws {
        var origin = try Origin()
        let id = try origin.answer()
        #expect(origin.windows.room(id) == 64 * kib)
        origin.send(id, 64 * kib - 1)
        #expect(origin.windows.room(id) < 64 * kib)
        origin.send(id, 1)
        #expect(origin.windows.room(id) == 128 * kib)
        // what came since counts, and none of it may wait
        let waiting = origin.send(id, 64 * kib, uses: false)
        origin.send(id, 64 * kib)
        origin.use(id, waiting - 1)
        #expect(origin.windows.room(id) < 128 * kib)
        origin.use(id, 1)
        #expect(origin.windows.room(id) == 256 * kib)
        #expect(origin.grow(id) == 256 * kib)
    }

    @Test("Together they get half of the connection's window beyond what they begin with")
    func together() throws {
        var origin = try Origin()
        let ids = try (0..<3).map { _ in try origin.answer() }
        let sizes = ids.map { origin.grow($0) / kib }
        #expect(sizes == [256, 256, 192])
        #expect(sizes.reduce(-3 * 64, +) == 512)
        // what one had that has ended is there for others
        #expect(origin.talk.feed(Frame.data(ids[0], [], end: true)) == [.end(1, "")])
        #expect(origin.grow(ids[2]) == 256 * kib)
    }

    @Test("Many get less, so that others find room in the connection's window though none of these is taken")
    func many() throws {
        var origin = try Origin()
        let ids = try (0..<10).map { _ in try origin.answer() }
        let sizes = ids.map { origin.grow($0) / kib }
        let late = try origin.answer()
        #expect(sizes == [192] + [64, 64, 64, 64, 64, 64, 64, 64, 64])
        var held = 0
        for id in ids { held += origin.send(id, uses: false) }
        #expect(held == 768 * kib)
        #expect(origin.send(late) == 64 * kib)
    }

    @Test("What waits of a stream that has ended takes room, too")
    func ended() throws {
        var origin = try Origin()
        let ids = try (0..<3).map { _ in try origin.answer() }
        for id in ids[..<2] {
            #expect(origin.grow(id) == 256 * kib)
            #expect(origin.send(id, (id == ids[0] ? 256 : 192) * kib, uses: false) > 0)
            #expect(origin.talk.feed(Frame.data(id, [], end: true)).last == .end((id + 1) / 2, ""))
        }
        #expect(origin.grow(ids[2]) == 256 * kib)
        let next = try origin.answer()
        #expect(origin.grow(next) == 64 * kib)
        origin.use(ids[0], 256 * kib)
        #expect(origin.grow(next) == 256 * kib)
    }

    @Test("Streams are begun beside stalled ones while each has what it may, and half of the window waits at most")
    func admission() throws {
        var origin = try Origin()
        let ids = try (0..<40).map { _ in try origin.answer() }
        #expect(origin.talk.leg.hasRoom, "nothing waits")
        #expect(origin.send(ids[0], 64 * kib - 1, uses: false) == 64 * kib - 1)
        #expect(origin.talk.leg.hasRoom)
        origin.send(ids[0], 1, uses: false)
        #expect(!origin.talk.leg.hasRoom && origin.talk.leg.begin() == nil && origin.talk.leg.isReusable)
        for id in ids[15...] { #expect(!origin.talk.feed(Frame.data(id, [], end: true)).isEmpty) }
        #expect(origin.talk.leg.hasRoom, "15 are left")
        for id in ids[1..<7] { origin.send(id, uses: false) }
        origin.send(ids[7], 64 * kib - 1, uses: false)
        #expect(origin.talk.leg.hasRoom)
        origin.send(ids[7], 1, uses: false)
        #expect(!origin.talk.leg.hasRoom)
        origin.use(ids[7], 1)
        #expect(origin.talk.leg.hasRoom)
    }

    @Test("What is used is granted though others hold most of the connection's window")
    func mostIsHeld() throws {
        var origin = try Origin()
        let ids = try (0..<16).map { _ in try origin.answer() }
        // it has been used, and the origin not told of it
        origin.send(ids[0], 50 * kib)
        for id in ids[1...] { #expect(origin.send(id, uses: false) == 64 * kib) }
        var came = 0
        for _ in 0..<20 { came += origin.send(ids[0], 60 * kib) }
        #expect(came > 10 * 60 * kib)
    }

    // MARK: long ways

    /// A response on a way of 20 ms that fills its window in each round trip.
    private func far(_ origin: inout Origin, _ id: UInt32) {
        for _ in 0..<4 {
            origin.send(id)
            origin.talk.now += 20
            origin.pong()
        }
    }

    @Test("Over a long way one that is alone has the connection to itself, and is bounded by not reading")
    func alone() throws {
        var origin = try Origin()
        let id = try origin.answer()
        far(&origin, id)
        #expect(origin.windows.room(id) > 4 << 20)
        #expect(!origin.talk.leg.hasRoom && origin.talk.leg.begin() == nil && origin.talk.leg.isReusable)
        #expect(!origin.talk.leg.isFull)
        #expect(origin.send(id, 256 * kib, uses: false) == 256 * kib && !origin.talk.leg.isFull)
        #expect(origin.send(id, 1, uses: false) == 1 && origin.talk.leg.isFull)
        // the connection's window is no bound any more
        #expect(origin.send(id, 3 << 20, uses: false) == 3 << 20)
        origin.use(id, 3 << 20)
        #expect(origin.talk.leg.isFull)
        origin.use(id, 1)
        #expect(!origin.talk.leg.isFull)
        // and it is lent again when all of it has been used
        #expect(origin.talk.feed(Frame.data(id, [], end: true)).last == .end(1, ""))
        #expect(!origin.talk.leg.hasRoom)
        origin.use(id, 256 * kib)
        #expect(origin.talk.leg.hasRoom)
        let next = try origin.answer()
        #expect(!origin.talk.leg.hasRoom && origin.windows.room(next) == 64 * kib)
    }

    @Test("One that is not alone has no further begun beside it, and the connection once the others have ended")
    func notAlone() throws {
        var origin = try Origin()
        let id = try origin.answer()
        let other = try origin.answer()
        far(&origin, id)
        #expect(origin.windows.room(id) <= 256 * kib && !origin.talk.leg.hasRoom && origin.talk.leg.isReusable)
        // what came of the other one waits
        #expect(origin.talk.feed(Frame.data(other, [1], end: true), uses: false).last == .end(2, ""))
        origin.talk.now += 500
        far(&origin, id)
        #expect(origin.windows.room(id) <= 256 * kib)
        origin.use(other, 1)
        origin.talk.now += 500
        far(&origin, id)
        #expect(origin.windows.room(id) > 4 << 20)
    }

    @Test("One that ends before it is alone leaves the connection to all")
    func endsBefore() throws {
        var origin = try Origin()
        let id = try origin.answer()
        _ = try origin.answer()
        far(&origin, id)
        #expect(!origin.talk.leg.hasRoom)
        #expect(origin.talk.feed(Frame.data(id, [], end: true)) == [.end(1, "")])
        #expect(origin.talk.leg.hasRoom)
    }

    @Test("One that is given up in the middle takes the connection along: what is under way is nobody's")
    func givenUp() throws {
        var origin = try Origin()
        let id = try origin.answer()
        far(&origin, id)
        origin.send(id, 300 * kib, uses: false)
        #expect(origin.talk.leg.isFull)
        origin.talk.leg.reset(StreamID(1), to: &origin.talk.out)
        #expect(!origin.talk.leg.isReusable && !origin.talk.leg.isFull)
    }

    @Test("One whose request still goes out keeps to its share: it may have to be granted more")
    func unsent() throws {
        var origin = try Origin()
        let id = try origin.answer("POST")
        far(&origin, id)
        #expect(origin.windows.room(id) <= 256 * kib && origin.talk.leg.hasRoom)
    }

    @Test("A short way changes nothing")
    func near() throws {
        var origin = try Origin()
        let id = try origin.answer()
        for _ in 0..<8 {
            origin.send(id)
            origin.talk.now += 3
            origin.pong()
        }
        #expect(origin.windows.room(id) <= 256 * kib && origin.talk.leg.hasRoom)
    }

    @Test("What a client sends alone over a long way: three quarters of the connection's window")
    func upload() throws {
        let server = ServerTalk()
        var windows = PeerWindows()
        windows.note(Frame.all(in: Frame.settings([(4, 64 << 10)]) + Frame.grant(0, (1 << 20) - 65_535)))
        let fields: KeyValuePairs = [":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        #expect(server.feed(Frame.headers(1, fields)).count == 1)
        for _ in 0..<8 {
            _ = server.feed(windows.send(1))
            server.now += 20
            let frames = server.frames()
            windows.note(frames)
            for var ping in frames where ping.kind == 6 && ping.flags == 0 {
                ping.flags = 1
                _ = server.feed(ping.bytes)
            }
            windows.note(server.frames())
        }
        #expect(windows.room(1) == 768 << 10)
        // what has been used is granted in pieces: else half of the window is not under way
        _ = server.feed(windows.send(1, (96 << 10) - 1))
        windows.note(server.frames())
        #expect(windows.room(1) < 768 << 10)
        _ = server.feed(windows.send(1, 1))
        windows.note(server.frames())
        #expect(windows.room(1) == 768 << 10)
    }
}
