import HTTPCodec
import Testing

@testable import HTTP2

/// What a client far away may send, as its own end of the connection sees it.
private struct Client {
    let server: ServerTalk
    var windows = PeerWindows()
    private var pings: [Frame] = []

    init(_ resources: LoopResources = LoopResources()) {
        server = ServerTalk(resources: resources)
        // all that the server has said so far
        windows.note(Frame.all(in: Frame.settings([(4, 4 << 10)]) + Frame.grant(0, (1 << 20) - 65_535)))
        hear()
    }

    mutating func begin(_ id: UInt32) {
        let block = Frame.block([":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"])
        #expect(server.feed(Frame.headers(id, block)).count == 1)
        hear()
    }

    @discardableResult
    mutating func send(_ id: UInt32, _ count: Int = .max, uses: Bool = true) -> Int {
        var sent = 0
        for case .data(_, let bytes) in server.feed(windows.send(id, count), uses: uses) { sent += bytes.count }
        hear()
        return sent
    }

    /// Fills its window in each of so many round trips of 20 ms.
    mutating func fill(_ id: UInt32, _ times: Int = 8) {
        for _ in 0..<times {
            send(id)
            server.now += 20
            for var ping in pings {
                ping.flags = 1
                #expect(server.feed(ping.bytes) == [])
            }
            pings = []
            hear()
        }
    }

    mutating func hear() {
        let frames = server.frames()
        windows.note(frames)
        pings += frames.filter { $0.kind == 6 && $0.flags == 0 }
    }
}

@Suite("Windows of uploads over a long way")
struct UploadWindowTests {
    private let kib = 1 << 10

    @Test("One has 4 MiB beside what its connection's streams share, and others go on beside it though nobody takes it")
    func wide() {
        var client = Client()
        client.begin(1)
        client.fill(1)
        // what has been used is granted in pieces: else half of the window is not under way
        #expect((3_700 * kib...4_352 * kib).contains(client.windows.room(1)))
        client.send(1, 600 * kib)
        #expect((3_700 * kib...4_352 * kib).contains(client.windows.room(1)))
        #expect(client.send(1, uses: false) > 3_700 * kib)
        for id in stride(from: UInt32(3), through: 199, by: 2) {
            client.begin(id)
            var sent = 0
            while case let count = client.send(id, uses: id == 199), count > 0, sent < 64 * kib { sent += count }
            #expect(sent >= 4 * kib)
        }
    }

    @Test("What it had is gone with it, once what came of it has been taken")
    func narrow() {
        var client = Client()
        client.begin(1)
        client.fill(1)
        let sent = client.send(1, uses: false)
        #expect(sent > 3_700 * kib && client.server.feed(Frame.data(1, [], end: true)) == [.end(1, "")])
        client.begin(3)
        // there is room for what the usual window has none for
        #expect(client.send(3, uses: false) == 4 * kib && client.send(3) == 60 * kib)
        client.server.use(sent, of: 1)
        client.server.use(4 * kib, of: 3)
        client.hear()
        for _ in 0..<40 {
            client.server.now += 50
            client.send(3)
        }
        client.begin(5)
        // both together, without anything being used
        var held = 0
        for id in [3, 5] as [UInt32] {
            while case let count = client.send(id, uses: false), count > 0 { held += count }
        }
        #expect((256 * kib...628 * kib).contains(held))
    }

    @Test("One that is given up gives it back")
    func reset() {
        let resources = LoopResources()
        for _ in 0..<20 {
            var client = Client(resources)
            client.begin(1)
            client.fill(1)
            #expect(client.windows.room(1) > 3_700 * kib)
            #expect(client.server.feed(Frame.reset(1, 8)) == [.reset(1)])
        }
        for _ in 0..<20 {
            var client = Client(resources)
            client.begin(1)
            client.fill(1)
            #expect(client.windows.room(1) > 3_700 * kib, "its connection has ended")
        }
    }

    @Test("Of a loop's clients eight have one at a time; others have what a hundred streams can spare")
    func bound() {
        let resources = LoopResources()
        var clients = (0..<9).map { _ in Client(resources) }
        for index in clients.indices {
            clients[index].begin(1)
            clients[index].fill(1)
        }
        let rooms = clients.map { $0.windows.room(1) }
        #expect(rooms.dropLast().allSatisfy { $0 > 3_700 * kib })
        #expect((549 * kib...628 * kib).contains(rooms[8]))
    }
}
