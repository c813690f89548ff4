internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private enum Event: Equatable {
    case interim(UInt32, Int)
    case head(UInt32, Int, [String], BodyFraming)
    case switched(UInt32)
    case data(UInt32, [UInt8])
    case end(UInt32, [UInt8])
    case broken(UInt32, HTTPFault)
    case reset(UInt32, StreamErrorCode)
    case drained(UInt32)
    case pong
    case failed(HTTPFault)
}

/// A connection with some requests under way, whose answers come in pieces.
private struct Reading {
    let codec = HTTP2Client(limits: limits)
    var events: [Event] = []
    var out: [UInt8] = []

    static func run(_ bytes: [UInt8], _ cuts: [Int]) -> [Event] {
        var reading = Reading()
        reading.ask()
        do throws(HTTPFault) {
            try reading.take([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0])
            var before = 0
            for end in cuts {
                try reading.take(Array(bytes[before..<end]))
                before = end
            }
        } catch {
            reading.events.append(.failed(error))
            require(
                !reading.codec.isReusable && reading.codec.begin() == nil, "whoever breaks HTTP/2 is not asked again")
        }
        return reading.events
    }

    private mutating func ask() {
        for (method, framing) in [("GET", BodyFraming.none), ("HEAD", .none), ("POST", .chunked), ("CONNECT", .none)] {
            guard let stream = codec.begin(), var head = try? RequestHead(method: "GET", url: "http://a.test/") else {
                return require(false, "there is room for some")
            }
            head.setMethod(method)
            codec.send(head, Forwarding(framing: framing), on: stream, to: &out)
            codec.write([UInt8](repeating: 0x61, count: 70_000).span, on: stream, to: &out)
        }
    }

    private mutating func take(_ bytes: [UInt8]) throws(HTTPFault) {
        var position = 0
        while true {
            let before = position
            let event = try codec.read(bytes.span, &position, now: 0, limits: limits, maxTrailerBytes: 200, to: &out)
            require(position >= before && position <= bytes.count, "reading moves on")
            switch event {
            case .needsMore:
                require(position == bytes.count, "more is asked for only when all is used up")
                require(out.count <= (1 << 20) + 64 * bytes.count, "what is answered has a bound")
                out = []
                // whoever comes in pieces finds it at rest between them
                codec.rest()
                return
            case .response(let stream, let event): take(event, of: stream, bytes, before, position)
            case .broken(let stream, let fault): events.append(.broken(stream.number, fault))
            case .reset(let stream, let code): events.append(.reset(stream.number, code))
            case .drained(let stream):
                require(codec.waiting(on: stream) == 0, "nothing waits where nothing does")
                events.append(.drained(stream.number))
            case .pong: events.append(.pong)
            }
        }
    }

    private mutating func take(
        _ event: ResponseEvent, of stream: StreamID, _ bytes: [UInt8], _ before: Int, _ position: Int
    ) {
        let id = stream.number
        switch event {
        case .needsMore: break
        case .interim: events.append(.interim(id, codec.head.status))
        case .head(let framing):
            require(codec.head.status >= 200 && codec.head.status < 600, "a status is one")
            events.append(
                .head(id, codec.head.status, codec.head.fields.lines.map { "\($0.name)=\($0.value)" }, framing))
        case .switched: events.append(.switched(id))
        case .data(let range):
            require(!range.isEmpty && range.lowerBound >= before && range.upperBound <= position, "data moves on")
            if case .data(id, let more)? = events.last {
                events[events.count - 1] = .data(id, more + bytes[range])
            } else {
                events.append(.data(id, Array(bytes[range])))
            }
            codec.used(range.count, of: stream, to: &out)
        case .end:
            events.append(.end(id, codec.trailers))
            codec.reset(stream, to: &out)
        }
    }
}

/// Frames of a server: whatever comes, in whatever pieces, is the same events; and each stream has one head, and one end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2Client(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = Reading.run(input.bytes, [input.bytes.count])
    require(Reading.run(input.bytes, input.cuts()) == whole, "pieces read like the whole")
    for stream in UInt32(1)...4 {
        var (heads, ends) = (0, 0)
        for event in whole {
            switch event {
            case .head(stream, _, _, _), .switched(stream): heads += 1
            case .end(stream, _), .reset(stream, _), .broken(stream, _): ends += 1
            case .data(stream, _): require(heads == 1 && ends == 0, "a body stands between head and end")
            default: break
            }
        }
        require(heads <= 1 && ends <= 1, "a response has one head and one end")
    }
    return 0
}
