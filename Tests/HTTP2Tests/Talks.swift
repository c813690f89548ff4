import HTTP2
import HTTPCodec

/// What a test sees of a codec's events, with what the codec had for them.
enum Seen: Equatable {
    case head(UInt32, String, BodyFraming)
    case interim(UInt32, String)
    case switched(UInt32, String)
    case broken(UInt32, HTTPFault.Code)
    case data(UInt32, [UInt8])
    case end(UInt32, String)
    case reset(UInt32, StreamErrorCode = .none)
    case violated(UInt32, HTTPFault.Code)
    case drained(UInt32)
    case pong
    case failed(HTTPFault.Code)
}

/// One side of a connection that is made by hand, and what the codec at its other end makes of it.
class Talk {
    var out: [UInt8] = []
    var now = 0
    private(set) var isOver = false

    /// The codec's next event; nil where it needs more.
    func next(_ bytes: [UInt8], _ position: inout Int) throws(HTTPFault) -> Seen? { nil }
    /// So much of a body has been used.
    func use(_ count: Int, of stream: UInt32) {}

    func feed(_ bytes: [UInt8], uses: Bool = true) -> [Seen] {
        var seen: [Seen] = []
        var position = 0
        while !isOver {
            do throws(HTTPFault) {
                guard let one = try next(bytes, &position) else { return seen }
                if uses, case .data(let stream, let more) = one { use(more.count, of: stream) }
                Self.append(one, to: &seen)
            } catch {
                isOver = true
                seen.append(.failed(error.code))
            }
        }
        return seen
    }

    /// The same in pieces of one byte; what comes of each is put together.
    func feedBytes(_ bytes: [UInt8]) -> [Seen] {
        var all: [Seen] = []
        for byte in bytes { for one in feed([byte]) { Self.append(one, to: &all) } }
        return all
    }

    private static func append(_ one: Seen, to all: inout [Seen]) {
        if case .data(let stream, let more) = one, case .data(stream, let before)? = all.last {
            all[all.count - 1] = .data(stream, before + more)
        } else {
            all.append(one)
        }
    }

    /// What came of the codec since somebody looked.
    func frames() -> [Frame] {
        defer { out = [] }
        return Frame.all(in: out)
    }
}

/// A client that is made by hand, and the codec that it talks to.
final class ServerTalk: Talk {
    let codec: HTTP2Server
    override var out: [UInt8] {
        get {
            codec.flush(to: &super.out)
            return super.out
        }
        set { super.out = newValue }
    }
    var limits = HeadLimits()
    var trailerBytes = 1_000

    init(maxStreams: Int = 100, begins: Bool = true) {
        codec = HTTP2Server(maxStreams: maxStreams)
        super.init()
        if begins { _ = feed(Frame.preface + Frame.settings() + Frame.settingsAnswer) }
    }

    override func next(_ bytes: [UInt8], _ position: inout Int) throws(HTTPFault) -> Seen? {
        see(
            try codec.read(bytes.span, &position, now: now, limits: limits, maxTrailerBytes: trailerBytes, to: &out),
            bytes)
    }

    override func use(_ count: Int, of stream: UInt32) { codec.used(count, of: StreamID(stream), to: &out) }

    private func see(_ event: StreamServerEvent, _ bytes: [UInt8]) -> Seen? {
        switch event {
        case .needsMore: return nil
        case .head(let stream, let framing): return .head(stream.number, text(codec.head), framing)
        case .broken(let stream, let fault): return .broken(stream.number, fault.code)
        case .data(let stream, let range): return .data(stream.number, Array(bytes[range]))
        case .end(let stream): return .end(stream.number, String(decoding: codec.trailers, as: UTF8.self))
        case .reset(let stream): return .reset(stream.number)
        case .violated(let stream, let fault): return .violated(stream.number, fault.code)
        }
    }

    func respond(_ stream: UInt32, _ status: Int = 200, body: String = "ok") {
        var head = ResponseHead(status: status, reason: "")
        head.fields.add("X", "y")
        codec.respond(head, .length(UInt64(body.utf8.count)), ResponseManner(), on: StreamID(stream), to: &out)
        _ = codec.write(Array(body.utf8).span, on: StreamID(stream), to: &out)
        codec.end(trailers: [], on: StreamID(stream), to: &out)
    }
}

/// A server that is made by hand, and the codec that talks to it.
final class ClientTalk: Talk {
    let codec: HTTP2Client

    /// - Parameter settings: what the server said first; nil where it has said nothing.
    init(_ settings: [(UInt16, UInt32)]? = [], budget: WindowBudget = WindowBudget()) {
        codec = HTTP2Client(budget: budget)
        super.init()
        if let settings { _ = feed(Frame.settings(settings) + Frame.settingsAnswer) }
    }

    override func next(_ bytes: [UInt8], _ position: inout Int) throws(HTTPFault) -> Seen? {
        see(
            try codec.read(
                bytes.span, &position, now: now, limits: HeadLimits(), maxTrailerBytes: 1_000, to: &out), bytes)
    }

    override func use(_ count: Int, of stream: UInt32) { codec.used(count, of: StreamID(stream), to: &out) }

    private func see(_ event: StreamClientEvent, _ bytes: [UInt8]) -> Seen? {
        switch event {
        case .needsMore, .response(_, .needsMore): return nil
        case .response(let stream, .interim): return .interim(stream.number, text(codec.head))
        case .response(let stream, .head(let framing)): return .head(stream.number, text(codec.head), framing)
        case .response(let stream, .switched): return .switched(stream.number, text(codec.head))
        case .response(let stream, .data(let range)): return .data(stream.number, Array(bytes[range]))
        case .response(let stream, .end):
            return .end(stream.number, String(decoding: codec.trailers, as: UTF8.self))
        case .broken(let stream, let fault): return .broken(stream.number, fault.code)
        case .reset(let stream, let code): return .reset(stream.number, code)
        case .drained(let stream): return .drained(stream.number)
        case .pong: return .pong
        }
    }

    /// Begins a stream and sends a request on it.
    @discardableResult
    func ask(
        _ method: String = "GET", _ url: String = "http://a.test/", _ fields: KeyValuePairs<String, String> = [:],
        _ forwarding: Forwarding = Forwarding(framing: .none)
    ) throws -> UInt32 {
        guard let stream = codec.begin() else { throw NoRoom() }
        var head = try RequestHead(method: method, url: url)
        for (name, value) in fields { head.fields.add(name, value) }
        codec.send(head, forwarding, on: stream, to: &out)
        return stream.number
    }

    struct NoRoom: Error {}
}

func text(_ head: RequestHead) -> String {
    let lines = head.fields.lines.map { "\($0.name): \($0.value)" }
    return (["\(head.methodText) \(head.targetText)"] + lines).joined(separator: "\n")
}

func text(_ head: ResponseHead) -> String {
    let lines = head.fields.lines.map { "\($0.name): \($0.value)" }
    return (["\(head.status) \(head.reason)"] + lines).joined(separator: "\n")
}
