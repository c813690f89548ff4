import HTTPCodec
import Testing

@testable import HTTP2

/// What a client far away may send, as its own end of the connection sees it.
private struct Client {
    let server = ServerTalk()
    var windows = PeerWindows()
    private(set) var farewells: [Frame] = []
    private var pings: [Frame] = []

    init() {
        // all that the server has said so far
        windows.note(Frame.all(in: Frame.settings([(4, 4 << 10)]) + Frame.grant(0, (1 << 20) - 65_535)))
        hear()
    }

    mutating func begin(_ id: UInt32, length: Int? = nil) {
        var block = Frame.block([":method": "POST", ":scheme": "http", ":authority": "a.test", ":path": "/"])
        if let length { block += Frame.block(["content-length": "\(length)"]) }
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
        farewells += frames.filter { $0.kind == 7 }
    }
}

@Suite("Windows of uploads over a long way")
struct UploadWindowTests {
    private let kib = 1 << 10

    @Test("One that is no large one has what a hundred streams can spare", arguments: [4 << 20, nil])
    func middling(_ length: Int?) {
        var client = Client()
        client.begin(1, length: length)
        client.fill(1, length == nil ? 4 : 8)
        #expect(client.farewells.isEmpty && !client.server.leg.hasLeft)
        // what has been used is granted in pieces: else half of the window is not under way
        #expect((549 * kib...628 * kib).contains(client.windows.room(1)))
        client.send(1, 79 * kib)
        #expect((549 * kib...628 * kib).contains(client.windows.room(1)))
        // and another one finds what it begins with
        #expect(client.send(1, uses: false) > 549 * kib)
        client.begin(3)
        #expect(client.send(3) == 4 * kib)
    }

    @Test("A large one has the connection to itself: the client begins others elsewhere", arguments: [32 << 20, nil])
    func large(_ length: Int?) {
        var client = Client()
        client.begin(1, length: length)
        for _ in 0..<10 where !client.server.leg.hasLeft { client.fill(1, 1) }
        #expect(client.windows.room(1) > 2 << 20 && client.windows.room(1) <= 3 << 20 && client.server.leg.hasLeft)
        #expect(client.farewells.map(\.bytes) == [Frame.goAway(last: 1)])
        #expect(client.send(1, 256 * kib, uses: false) == 256 * kib && !client.server.leg.isFull)
        #expect(client.send(1, 1, uses: false) == 1 && client.server.leg.isFull)
        client.server.use(1, of: 1)
        #expect(!client.server.leg.isFull)
        client.server.use(256 * kib, of: 1)
        client.send(1, 2 << 20)
        #expect(client.server.feed(Frame.data(1, [], end: length == nil)).last == (length == nil ? .end(1, "") : nil))
    }

    @Test("It is read on while its answer waits for the client to grant more")
    func answered() {
        var client = Client()
        client.begin(1, length: 32 << 20)
        for _ in 0..<10 where !client.server.leg.hasLeft { client.fill(1, 1) }
        client.send(1, 300 * kib, uses: false)
        #expect(client.server.leg.isFull)
        let (leg, stream) = (client.server.leg, StreamID(1))
        let head = ResponseHead(status: 200, reason: "")
        leg.respond(head, .chunked, ResponseManner(), on: stream, to: &client.server.out)
        _ = leg.write([UInt8](repeating: 0x61, count: 65_535).span, on: stream, to: &client.server.out)
        #expect(leg.isFull, "the client has room for it")
        _ = leg.write([UInt8](repeating: 0x61, count: 9_000).span, on: stream, to: &client.server.out)
        #expect(leg.waiting(on: stream) == 9_000 && !leg.isFull)
        #expect(client.server.feed(Frame.grant(0, 9_000) + Frame.grant(1, 9_000)) == [])
        #expect(leg.waiting(on: stream) == 0 && leg.isFull)
    }

    @Test("Not beside another one, nor once its response has begun: that may need grants that would not be read")
    func notAlone() {
        var client = Client()
        client.begin(1, length: 32 << 20)
        client.begin(3)
        client.fill(1)
        #expect(client.windows.room(1) <= 516 * kib && client.farewells.isEmpty)
        client = Client()
        client.begin(1, length: 32 << 20)
        var head = ResponseHead(status: 200, reason: "")
        head.fields.add("X", "y")
        client.server.leg.respond(head, .chunked, ResponseManner(), on: StreamID(1), to: &client.server.out)
        client.fill(1)
        #expect(client.windows.room(1) <= 628 * kib && client.farewells.isEmpty)
    }
}
