import HTTPCodec
import Testing

@testable import HTTP2

@Suite("Windows of what is read")
struct WindowTests {
    private let kib = 1 << 10

    @Test("A stream begins with 4 KiB, has 64 once its body is no small one, and up to 256 behind what is taken")
    func one() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        #expect(origin.windows.room(id) == 4 * kib)
        origin.send(id, 2 * kib)
        #expect(origin.windows.room(id) == 4 * kib)
        origin.send(id, 1)
        #expect(origin.windows.room(id) == 64 * kib - 1)
        origin.send(id, 64 * kib - 2)
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

    @Test(
        "One whose head says that it fits into what it has gets no more",
        arguments: [(4_096, 4 << 10), (4_097, 64 << 10), (64 << 10, 64 << 10), (.max, 64 << 10)])
    func length(_ length: Int, _ size: Int) throws {
        var origin = try SendingOrigin()
        let id = try origin.answer(length: length)
        origin.send(id, kib, uses: false)
        origin.send(id, 2 * kib, uses: false)
        #expect(origin.windows.room(id) == size - 3 * kib)
    }

    @Test("What was granted before the origin knew what streams begin with is granted still")
    func unanswered() throws {
        var origin = try SendingOrigin(answers: false)
        let id = try origin.answer()
        origin.send(id, 4 * kib, uses: false)
        #expect(origin.windows.room(id) == 60 * kib)
        #expect(origin.talk.feed(Frame.settingsAnswer) == [])
        #expect(origin.send(id, uses: false) == 60 * kib)
        origin.use(id, 64 * kib)
        #expect(origin.windows.room(id) == 128 * kib)
        #expect(origin.send(id, uses: false) == 128 * kib)
    }

    @Test("What was used before the origin knew that it had less is granted as soon as it does")
    func unansweredEnd() throws {
        var origin = try SendingOrigin(answers: false)
        let id = try origin.answer(length: 5_500)
        origin.send(id, 1_500)
        #expect(origin.talk.feed(Frame.data(id, [UInt8](repeating: 0, count: 3_000))).count == 1)
        #expect(origin.talk.feed(Frame.settingsAnswer) == [])
        origin.hear()
        #expect(origin.windows.room(id) >= 1_000 + 3_000)
    }

    @Test("One that never says that it knows is granted what was used all the same")
    func neverAnswered() throws {
        var origin = try SendingOrigin(answers: false)
        let id = try origin.answer(length: 4_096)
        for _ in 0..<6 {
            let padded = Frame.data(id, [UInt8](repeating: 0, count: 500), padding: 255)
            #expect(origin.talk.feed(padded).count == 1)
        }
        origin.hear()
        // it counts for itself what it has sent, with the padding
        #expect(origin.windows.room(id) - 6 * 756 >= 4_096 / 2)
    }

    @Test("Together they get half of the connection's window beyond what they begin with")
    func together() throws {
        var origin = try SendingOrigin()
        let ids = try (0..<3).map { _ in try origin.answer() }
        let sizes = ids.map { origin.grow($0) / kib }
        #expect(sizes == [256, 256, 12])
        #expect(sizes.reduce(-3 * 4, +) == 512)
        // what one had that has ended is there for others
        #expect(origin.talk.feed(Frame.data(ids[0], [], end: true)) == [.end(1, "")])
        #expect(origin.grow(ids[2]) == 256 * kib)
    }

    @Test("What nothing shows the use of leaves something to the next one")
    func usual() throws {
        var origin = try SendingOrigin()
        let ids = try (0..<20).map { _ in try origin.answer() }
        for id in ids { origin.send(id, uses: false) }
        let sizes = ids.map { 4 + origin.windows.room($0) / kib }
        #expect(sizes.first == 64 && sizes == sizes.sorted(by: >) && sizes.reduce(-20 * 4, +) <= 512)
        #expect(sizes.filter { $0 > 8 }.count > 8)
    }

    @Test("However many there are that nobody takes, another one goes on")
    func stalled() throws {
        var origin = try SendingOrigin()
        let grown = try (0..<8).map { _ in try origin.answer() }
        for id in grown { _ = origin.grow(id) }
        var ids: [UInt32] = []
        while origin.talk.leg.hasRoom { ids.append(try origin.answer()) }
        let last = ids.removeLast()
        #expect(ids.count > 100)
        var held = 0
        for id in ids + grown { while case let count = origin.send(id, uses: false), count > 0 { held += count } }
        #expect(held > 1_000 * kib && held <= 1_020 * kib)
        var came = 0
        for _ in 0..<400 { came += origin.send(last) }
        #expect(came > 1_000 * kib)
    }

    @Test("Where the peer begins streams, as many as it may find what they begin with", arguments: [1, 100, 10_000])
    func stalledUploads(_ streams: Int) throws {
        let server = ServerTalk(maxStreams: streams)
        var windows = PeerWindows()
        windows.note(server.frames())
        let first = windows.room(1)
        #expect(first == min(4 << 10, 768 * kib / streams))
        let fields: KeyValuePairs = [":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        func send(_ id: UInt32, uses: Bool) -> Int {
            var sent = 0
            for case .data(_, let bytes) in server.feed(windows.send(id), uses: uses) { sent += bytes.count }
            windows.note(server.frames())
            return sent
        }
        let ids = (0..<UInt32(min(streams, 1_000))).map { 2 * $0 + 1 }
        var held = 0
        for id in ids.dropLast() {
            #expect(server.feed(Frame.headers(id, fields)).count == 1)
            for _ in 0..<3 { #expect(send(id, uses: true) > 0) }
            while case let count = send(id, uses: false), count > 0 { held += count }
        }
        let last = ids[ids.count - 1]
        #expect(server.feed(Frame.headers(last, fields)).count == 1)
        var came = 0
        for _ in 0..<100 { came += send(last, uses: true) }
        #expect(came > 50 * first && held <= 1 << 20)
    }

    @Test("What waits of a stream that has ended takes room, too")
    func ended() throws {
        var origin = try SendingOrigin()
        let ids = try (0..<3).map { _ in try origin.answer() }
        for id in ids[..<2] {
            #expect(origin.grow(id) == 256 * kib)
            #expect(origin.send(id, 200 * kib, uses: false) > 0)
            #expect(origin.talk.feed(Frame.data(id, [], end: true)).last == .end((id + 1) / 2, ""))
        }
        #expect(origin.grow(ids[2]) == 256 * kib)
        let next = try origin.answer()
        // 1024 without the 128 that are left to 32 more, the 400 that wait, and the 260 of these two
        #expect((0..<12).map { _ in origin.send(next) }.max() == 240 * kib)
        origin.use(ids[0], 200 * kib)
        #expect(origin.grow(next) == 256 * kib)
    }

    @Test("Streams are begun beside stalled ones while half of the window waits at most, and each has what it may")
    func admission() throws {
        var origin = try SendingOrigin()
        let ids = try (0..<2).map { _ in try origin.answer() }
        for id in ids { #expect(origin.grow(id) == 256 * kib) }
        #expect(origin.send(ids[0], uses: false) == 256 * kib)
        #expect(origin.send(ids[1], 256 * kib - 1, uses: false) > 0 && origin.talk.leg.hasRoom)
        origin.send(ids[1], 1, uses: false)
        #expect(!origin.talk.leg.hasRoom && origin.talk.leg.begin() == nil && origin.talk.leg.isReusable)
        origin.use(ids[1], 1)
        #expect(origin.talk.leg.hasRoom)
        // 1 MiB has room for 126 beside these, as long as each has 4 KiB and one or the other a little more
        let more = (0..<200).compactMap { _ in try? origin.answer() }
        #expect(!origin.talk.leg.hasRoom && (120...126).contains(more.count))
        #expect(!origin.talk.feed(Frame.data(ids[1], [], end: true)).isEmpty)
        #expect(!origin.talk.leg.hasRoom, "what came of it waits")
        origin.use(ids[1], 256 * kib - 1)
        #expect(origin.talk.leg.hasRoom)
        // a place that was taken and not used is free again
        let places = (0..<200).compactMap { _ in origin.talk.leg.begin() }
        #expect(!origin.talk.leg.hasRoom && places.count < 200)
        origin.talk.leg.reset(places[0], to: &origin.talk.out)
        #expect(origin.talk.leg.hasRoom)
    }

    @Test("What is used is granted though others hold most of the connection's window")
    func mostIsHeld() throws {
        var origin = try SendingOrigin()
        var ids = try (0..<2).map { _ in try origin.answer() }
        for id in ids { #expect(origin.grow(id) == 256 * kib) }
        while origin.talk.leg.hasRoom { ids.append(try origin.answer()) }
        let last = ids.removeLast()
        // it has been used, and the origin not told of it
        origin.send(last, 2 * kib - 1)
        for id in ids { while origin.send(id, uses: false) > 0 {} }
        var came = 0
        for _ in 0..<300 { came += origin.send(last) }
        #expect(came > 600 * kib)
    }

    @Test("Where one response in eight needs more than streams begin with, all have that with the request")
    func foresight() throws {
        var origin = try SendingOrigin()
        func rooms(_ lengths: Int...) throws -> [Int] {
            try lengths.map { length in
                let id = try origin.answer(length: length)
                let room = origin.windows.room(id)
                while origin.send(id, min(length - (origin.sent[id] ?? 0), 1_000)) > 0 {}
                #expect(origin.sent[id] == length)
                #expect(!origin.talk.feed(Frame.data(id, [], end: true)).isEmpty)
                return room / kib
            }
        }
        #expect(try rooms(1_000, 4_096, 5_000) == [4, 4, 4])
        #expect(try rooms(1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 10_000) == Array(repeating: 64, count: 8))
        #expect(try rooms(1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000) == Array(repeating: 64, count: 8))
        #expect(try rooms(1_000) == [4])
    }
}
