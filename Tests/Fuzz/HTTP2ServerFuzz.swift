internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private enum Event: Equatable {
    case head(UInt32, String, [String], BodyFraming)
    case broken(UInt32, HTTPFault)
    case data(UInt32, [UInt8])
    case end(UInt32, [UInt8])
    case reset(UInt32)
    case violated(UInt32, HTTPFault)
    case failed(HTTPFault)
}

/// A connection that takes its bytes in pieces, and answers every request as soon as it is whole.
private struct Reading {
    let codec = HTTP2Server(maxStreams: 8, limits: limits)
    var events: [Event] = []
    var out: [UInt8] = []

    static func run(_ bytes: [UInt8], _ cuts: [Int]) -> [Event] {
        var reading = Reading()
        // what every client begins with, so that what comes next is looked at
        let start =
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
        do throws(HTTPFault) {
            try reading.take(start)
            var before = 0
            for end in cuts {
                try reading.take(Array(bytes[before..<end]))
                before = end
            }
        } catch {
            reading.events.append(.failed(error))
            require(reading.hasFailedAgain(), "a connection that has failed stays so")
        }
        return reading.events
    }

    private mutating func hasFailedAgain() -> Bool {
        var position = 0
        do throws(HTTPFault) {
            _ = try codec.read([0].span, &position, now: 0, limits: limits, maxTrailerBytes: 200, to: &out)
            return false
        } catch {
            return true
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
                require(out.count <= 64 << 10 + 64 * bytes.count, "what is answered has a bound")
                out = []
                // whoever comes in pieces finds it at rest between them
                codec.rest()
                return
            case .head(let stream, let framing):
                require(
                    codec.head.target.form != .absolute
                        || codec.head.fields.lines.filter { $0.name.lowercased() == "host" }.count == 1,
                    "a head has one Host")
                writeAgain(codec.head, framing)
                events.append(
                    .head(
                        stream.number, "\(codec.head.methodText) \(codec.head.targetText)",
                        codec.head.fields.lines.map { "\($0.name)=\($0.value)" }, framing))
            case .broken(let stream, let fault):
                events.append(.broken(stream.number, fault))
                answer(stream, 400)
            case .data(let stream, let range):
                require(!range.isEmpty && range.lowerBound >= before && range.upperBound <= position, "data moves on")
                if case .data(stream.number, let more)? = events.last {
                    events[events.count - 1] = .data(stream.number, more + bytes[range])
                } else {
                    events.append(.data(stream.number, Array(bytes[range])))
                }
                codec.used(range.count, of: stream, to: &out)
            case .end(let stream):
                events.append(.end(stream.number, codec.trailers))
                answer(stream, 200)
            case .reset(let stream): events.append(.reset(stream.number))
            case .violated(let stream, let fault): events.append(.violated(stream.number, fault))
            }
        }
    }

    private mutating func answer(_ stream: StreamID, _ status: Int) {
        let body = [UInt8](repeating: 0x61, count: 100)
        codec.respond(ResponseHead(status: status, reason: ""), .length(100), ResponseManner(), on: stream, to: &out)
        _ = codec.write(body.span, on: stream, to: &out)
        codec.end(trailers: [], on: stream, to: &out)
        codec.reset(stream, .complete, to: &out)
    }
}

/// What goes on to an origin that has HTTP/1 is read there as it was meant: one request, with the same fields and no more.
private func writeAgain(_ head: RequestHead, _ framing: BodyFraming) {
    guard head.method != .connect else { return }
    var written: [UInt8] = []
    head.write(to: &written, Forwarding(framing: framing))
    var again = RequestHead()
    var parser = HeadParser()
    do throws(HTTPFault) {
        let large = HeadLimits(bytes: 4_000, fields: 40, target: 400)
        require(try parser.parse(written.span, into: &again, limits: large) == written.count, "a head is one head")
        try again.settleHost(scheme: head.target.scheme)
        require(again.host == head.host && again.target.port == head.target.port, "a host is the same host")
        require(again.methodText == head.methodText && again.query == head.query, "a target is the same target")
        require(try again.framing() == framing, "a body is as long")
        require(again.fields.count <= head.fields.count + 1, "a field is one field")
    } catch {
        require(false, "a written head can be read")
    }
}

/// Frames of a client: whatever comes, in whatever pieces, is the same events, and what goes on is HTTP/1 without doubt.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2Server(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = Reading.run(input.bytes, [input.bytes.count])
    require(Reading.run(input.bytes, input.cuts()) == whole, "pieces read like the whole")
    return 0
}
