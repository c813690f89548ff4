import HTTPCodec
import Testing

@testable import HTTP2

@Suite("Windows over a long way")
struct LongWayTests {
    private let kib = 1 << 10

    /// A response on a way of 20 ms that fills its window in each round trip.
    private func far(_ origin: inout SendingOrigin, _ id: UInt32, _ times: Int = 8) {
        for _ in 0..<times {
            origin.send(id)
            origin.talk.now += 20
            origin.pong()
        }
    }

    /// A small response, by which it is known that the way is of 20 ms.
    private func findFar(_ origin: inout SendingOrigin) throws {
        let id = try origin.answer(length: 3_000)
        origin.send(id, 3_000)
        origin.talk.now += 20
        origin.pong()
        #expect(origin.talk.feed(Frame.data(id, [], end: true)).count == 1)
    }

    @Test("Over a long way one that is alone has the connection to itself, and is bounded by not reading")
    func alone() throws {
        var origin = try SendingOrigin()
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
        #expect(!origin.talk.leg.hasRoom && origin.windows.room(next) == 64 * kib, "the way is known to be long")
    }

    @Test("One that is not alone has 4 MiB beside what they share, and others are begun beside it")
    func beside() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        let other = try origin.answer()
        far(&origin, id)
        #expect((3_700 * kib...4_352 * kib).contains(origin.windows.room(id)) && origin.talk.leg.hasRoom)
        #expect(origin.send(id, uses: false) > 3_700 * kib)
        #expect(origin.send(other) > 0)
        // once it is over, the next one that is alone has the connection to itself
        let waiting = origin.waiting[id] ?? 0
        for stream in [other, id] { #expect(!origin.talk.feed(Frame.data(stream, [], end: true)).isEmpty) }
        let next = try? origin.answer()
        #expect(next == nil, "what came waits")
        origin.use(id, waiting)
        let last = try origin.answer()
        far(&origin, last)
        #expect(origin.windows.room(last) > 4 << 20)
    }

    /// All wide windows that a loop has are taken.
    private var taken: LoopResources {
        let resources = LoopResources()
        while resources.beginWide() {}
        return resources
    }

    @Test("Where none is left it has no further begun beside it, and the connection once the others have ended")
    func notAlone() throws {
        var origin = try SendingOrigin(resources: taken)
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
        var origin = try SendingOrigin(resources: taken)
        let id = try origin.answer()
        _ = try origin.answer()
        far(&origin, id)
        #expect(!origin.talk.leg.hasRoom)
        #expect(origin.talk.feed(Frame.data(id, [], end: true)) == [.end(1, "")])
        #expect(origin.talk.leg.hasRoom)
    }

    @Test("One that is given up in the middle takes the connection along: what is under way is nobody's")
    func givenUp() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        far(&origin, id)
        origin.send(id, 300 * kib, uses: false)
        #expect(origin.talk.leg.isFull)
        origin.talk.leg.reset(StreamID(1), to: &origin.talk.out)
        #expect(!origin.talk.leg.isReusable && !origin.talk.leg.isFull)
    }

    @Test("One whose request still goes out is read: it may have to be granted more")
    func unsent() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer("POST")
        far(&origin, id)
        #expect((3_700 * kib...4_352 * kib).contains(origin.windows.room(id)) && origin.talk.leg.hasRoom)
        #expect(origin.send(id, uses: false) > 3_700 * kib && !origin.talk.leg.isFull)
    }

    @Test("One that came first and has little to say keeps no large one from growing", arguments: [1, 70])
    func quiet(_ kibs: Int) throws {
        var origin = try SendingOrigin()
        let quiet = try origin.answer()
        for _ in 0..<kibs {
            origin.send(quiet, kib)
            origin.talk.now += 600
            origin.pong()
        }
        let id = try origin.answer()
        for _ in 0..<12 {
            origin.send(quiet, 10)
            far(&origin, id, 1)
        }
        #expect(origin.windows.room(id) > 3_700 * kib)
    }

    @Test("Nor does one that has had more to say, and has none any more")
    func silent() throws {
        var origin = try SendingOrigin()
        let silent = try origin.answer()
        far(&origin, silent, 2)
        let id = try origin.answer()
        origin.talk.now += 500
        far(&origin, id)
        #expect(origin.windows.room(id) > 3_700 * kib)
    }

    @Test("One that gets a wide window after all leaves room to others")
    func after() throws {
        let resources = taken
        var origin = try SendingOrigin(resources: resources)
        let id = try origin.answer()
        _ = try origin.answer()
        far(&origin, id)
        #expect(!origin.talk.leg.hasRoom)
        resources.endWide()
        origin.talk.now += 500
        far(&origin, id)
        #expect(origin.windows.room(id) > 3_700 * kib && origin.talk.leg.hasRoom)
    }

    @Test("Trailers of a request whose response has come take nothing of what others may have")
    func trailers() throws {
        var origin = try SendingOrigin()
        let streams = try (0..<30).map { _ in
            try origin.talk.ask("POST", "http://a.test/", [:], Forwarding(framing: .chunked))
        }
        try findFar(&origin)
        for stream in streams {
            #expect(origin.talk.feed(Frame.headers(2 * stream - 1, [":status": "200"], end: true)).count == 2)
            origin.talk.leg.end(trailers: Array("a: b\r\n".utf8), on: StreamID(stream), to: &origin.talk.out)
        }
        origin.hear()
        let id = try origin.answer()
        #expect(origin.windows.room(id) == 64 * kib)
    }

    @Test("A short way changes nothing")
    func near() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        for _ in 0..<8 {
            origin.send(id)
            origin.talk.now += 3
            origin.pong()
        }
        #expect(origin.windows.room(id) <= 256 * kib && origin.talk.leg.hasRoom)
    }

    @Test("Over a long way a response has 64 KiB with its request, as far as there is that much")
    func ahead() throws {
        var origin = try SendingOrigin()
        try findFar(&origin)
        let ids = try (0..<20).map { _ in try origin.answer(length: 3_000) }
        let rooms = ids.map { origin.windows.room($0) / kib }
        #expect(rooms.first == 64 && rooms == rooms.sorted(by: >) && rooms.reduce(-20 * 4, +) <= 512, "\(rooms)")
    }
}
