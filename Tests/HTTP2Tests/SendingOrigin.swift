import HTTPCodec
import Testing

@testable import HTTP2

/// What an origin may send of responses, as its own end of the connection sees it.
struct SendingOrigin {
    let talk: ClientTalk
    var windows = PeerWindows()
    private var pings: [Frame] = []
    /// Bytes of bodies.
    private(set) var sent: [UInt32: Int] = [:]
    /// Those that were not used at once.
    private(set) var waiting: [UInt32: Int] = [:]

    init(_ budget: WindowBudget = WindowBudget()) throws {
        talk = ClientTalk(nil, budget: budget)
        _ = talk.feed(Frame.settings() + Frame.settingsAnswer)
        hear()
    }

    mutating func hear() {
        let frames = talk.frames()
        windows.note(frames)
        pings += frames.filter { $0.kind == 6 && $0.flags == 0 }
    }

    /// - Returns: the stream's number in frames.
    mutating func answer(_ method: String = "GET", length: Int? = nil) throws -> UInt32 {
        let framing = method == "GET" ? BodyFraming.none : .chunked
        let stream = try talk.ask(method, "http://a.test/", [:], Forwarding(framing: framing))
        let id = 2 * stream - 1
        hear()
        guard let length else {
            #expect(talk.feed(Frame.headers(id, [":status": "200"])) == [.head(stream, "200 OK", .chunked)])
            return id
        }
        #expect(talk.feed(Frame.headers(id, [":status": "200", "content-length": "\(length)"])).count == 1)
        return id
    }

    /// Sends what it may, up to so many bytes; how many these were.
    @discardableResult
    mutating func send(_ id: UInt32, _ count: Int = .max, uses: Bool = true) -> Int {
        var sent = 0
        for case .data(_, let bytes) in talk.feed(windows.send(id, count), uses: uses) { sent += bytes.count }
        self.sent[id, default: 0] += sent
        if !uses { waiting[id, default: 0] += sent }
        hear()
        return sent
    }

    /// What came of a stream is used.
    mutating func use(_ id: UInt32, _ count: Int) {
        talk.use(count, of: (id + 1) / 2)
        hear()
    }

    /// A path of so many milliseconds on which a response fills its window in each round trip.
    mutating func fill(_ id: UInt32, _ times: Int = 8, roundTrip: Int = 20) {
        for _ in 0..<times {
            send(id)
            talk.now += roundTrip
            pong()
        }
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
