import HTTPCodec
import Testing

@testable import HTTP2

@Suite("Windows of what is read")
struct WindowTests {
    private let kib = 1 << 10
    private let whole = FlowWindows.stream

    @Test("Each stream has 64 KiB, and half of it is granted anew once that was used")
    func one() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        #expect(origin.windows.room(id) == whole)
        origin.send(id, whole / 2 - 1)
        #expect(origin.windows.room(id) == whole - whole / 2 + 1, "nobody is told of less")
        origin.send(id, 1)
        #expect(origin.windows.room(id) == whole)
        #expect(origin.send(id, uses: false) == whole && origin.windows.room(id) == 0)
        origin.use(id, whole)
        #expect(origin.windows.room(id) == whole)
    }

    @Test("What came as padding is granted with what was used")
    func padding() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        for _ in 0..<500 {
            #expect(origin.windows.room(id) > 756)
            origin.windows.spend(id, 756)
            #expect(origin.talk.feed(Frame.data(id, [UInt8](repeating: 0, count: 500), padding: 255)).count == 1)
            origin.hear()
        }
        #expect(origin.windows.room(0) > 512 * whole / 2)
    }

    @Test("Whoever sends no more is granted no more")
    func ended() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer("POST")
        origin.send(id, whole, uses: false)
        #expect(!origin.talk.feed(Frame.data(id, [], end: true)).isEmpty)
        origin.use(id, whole)
        #expect(origin.windows.room(id) == 0)
    }

    @Test("However many streams there are that nobody takes, another one has all that it had")
    func stalled() throws {
        var origin = try SendingOrigin()
        let far = try origin.answer()
        origin.fill(far)
        var ids = [far]
        while origin.talk.codec.hasRoom { ids.append(try origin.answer()) }
        #expect(ids.count == 256)
        let last = ids.removeLast()
        for id in ids { #expect(origin.send(id, uses: false) >= whole) }
        for _ in 0..<100 { #expect(origin.send(last, whole) == whole) }
    }

    @Test("So it is where the peer begins them", arguments: [1, 100, 1_000])
    func stalledUploads(_ streams: Int) throws {
        let server = ServerTalk(maxStreams: streams)
        var windows = PeerWindows()
        windows.note(server.frames())
        let fields: KeyValuePairs = [":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        func send(_ id: UInt32, uses: Bool) -> Int {
            var sent = 0
            for case .data(_, let bytes) in server.feed(windows.send(id), uses: uses) { sent += bytes.count }
            windows.note(server.frames())
            return sent
        }
        let ids = (0..<UInt32(streams)).map { 2 * $0 + 1 }
        for id in ids {
            #expect(server.feed(Frame.headers(id, fields)).count == 1)
            if id != ids.last { #expect(send(id, uses: false) == whole) }
        }
        for _ in 0..<20 { #expect(send(ids[streams - 1], uses: true) == whole) }
    }

    @Test("What waits of a response that has ended keeps the place of a stream")
    func waiting() throws {
        var origin = try SendingOrigin()
        let ids = try (0..<256).map { _ in try origin.answer() }
        #expect(!origin.talk.codec.hasRoom && origin.talk.codec.begin() == nil && origin.talk.codec.isReusable)
        origin.send(ids[0], 1, uses: false)
        for id in ids[..<2] { #expect(!origin.talk.feed(Frame.data(id, [], end: true)).isEmpty) }
        let next = try origin.answer()
        #expect(!origin.talk.codec.hasRoom, "a byte of the first waits")
        origin.use(ids[0], 1)
        #expect(origin.talk.codec.hasRoom)
        // a place that was taken and not used is free again
        let place = try #require(origin.talk.codec.begin())
        #expect(!origin.talk.codec.hasRoom)
        origin.talk.codec.reset(place, to: &origin.talk.out)
        #expect(origin.talk.codec.hasRoom && origin.windows.room(next) == whole)
    }

    @Test("So does what comes of one that has ended already")
    func late() {
        var windows = FlowWindows(maxStreams: 1, WindowBudget())
        var window = StreamWindow()
        windows.begin(&window)
        windows.end(&window)
        #expect(windows.hasRoom)
        windows.came(1, &window)
        #expect(!windows.hasRoom)
        windows.use(1, &window)
        #expect(windows.hasRoom)
    }

    @Test("Over a long path a window grows to 4 MiB, as long as what comes is taken")
    func far() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        origin.fill(id)
        let large = 3_500 * kib...4 << 20
        #expect(large.contains(origin.windows.room(id)), "\(origin.windows.room(id))")
        // what has been used is granted in pieces: else half of the window would not be under way
        origin.send(id, 600 * kib)
        #expect(large.contains(origin.windows.room(id)))
        #expect(origin.talk.codec.hasRoom)
        // one beside it has no part in that, and its own all the same
        let other = try origin.answer()
        origin.fill(other, 20)
        #expect(origin.windows.room(other) < 2 * whole)
        let held = origin.send(id, uses: false)
        #expect(large.contains(held) && origin.send(other, whole) > whole / 2)
        // and the next has it, once that one has ended
        #expect(!origin.talk.feed(Frame.data(id, [], end: true)).isEmpty)
        origin.fill(other, 20)
        #expect(large.contains(origin.windows.room(other)))
    }

    @Test("The connections of a loop have 32 MiB of it together, and each of them gives back what it had")
    func budget() throws {
        let budget = WindowBudget()
        func grown() throws -> (origin: SendingOrigin, size: Int) {
            var origin = try SendingOrigin(budget)
            let id = try origin.answer()
            origin.fill(id)
            return (origin, origin.windows.room(id))
        }
        for _ in 0..<3 {
            let all = try (0..<9).map { _ in try grown() }
            #expect(all.dropLast().allSatisfy { $0.size > 3_500 * kib } && all[8].size < 2 * whole + 512 * kib)
        }
        #expect(budget.left == WindowBudget.most)
        let one = try grown().origin
        one.talk.codec.reset(StreamID(1), to: &one.talk.out)
        #expect(budget.left == WindowBudget.most)
    }

    @Test("An upload has the same")
    func farUpload() {
        let server = ServerTalk()
        var windows = PeerWindows()
        windows.note(server.frames())
        let fields: KeyValuePairs = [":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"]
        #expect(server.feed(Frame.headers(1, fields)).count == 1)
        for _ in 0..<8 {
            _ = server.feed(windows.send(1))
            server.now += 20
            for frame in server.frames() {
                windows.note([frame])
                guard frame.kind == 6, frame.flags == 0 else { continue }
                var answer = frame
                answer.flags = 1
                #expect(server.feed(answer.bytes) == [])
            }
        }
        #expect((3_000 * kib...4 << 20).contains(windows.room(1)), "\(windows.room(1))")
    }

    @Test("What nobody takes makes no window grow")
    func untaken() throws {
        var origin = try SendingOrigin()
        let (id, other) = (try origin.answer(), try origin.answer())
        for _ in 0..<20 {
            origin.send(other, uses: false)
            origin.fill(id, 1)
        }
        #expect(origin.windows.room(id) > 3_000 * kib && origin.waiting[other] == whole)
        origin.use(other, whole / 4)
        #expect(origin.windows.room(other) == 0)
    }

    @Test("A window that was never full does not grow")
    func unfilled() throws {
        var origin = try SendingOrigin()
        let (id, other) = (try origin.answer(), try origin.answer())
        origin.fill(id, 1)
        origin.send(other, whole / 2)
        #expect(origin.windows.room(other) <= whole)
        origin.send(other)
        #expect(origin.windows.room(other) > whole)
    }

    @Test("A short path changes nothing")
    func near() throws {
        var origin = try SendingOrigin()
        let id = try origin.answer()
        origin.fill(id, 20, roundTrip: 3)
        #expect(origin.windows.room(id) <= whole)
    }
}
