internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private struct Outcome: Equatable {
    var interims: [Int] = []
    var status: Int?
    var fields: [String] = []
    var framing: BodyFraming?
    var isSwitched = false
    var body: [UInt8] = []
    var trailers: [UInt8] = []
    /// Behind its last byte; nil where it did not come whole, or ends with the connection.
    var end: Int?
    var endsWithConnection = false
    var isReusable = false
    var fault: HTTPFault?
}

/// One connection with one request under way, whose answer comes in pieces.
private struct Reading {
    /// What a relay may pass on without a look is not looked at.
    let relays: Bool
    var codec: HTTP1Client
    var outcome = Outcome()

    static func run(_ bytes: [UInt8], _ cuts: [Int], _ method: String, relays: Bool = false) -> Outcome {
        var reading = Reading(relays: relays, codec: asking(method))
        require(!reading.codec.hasAnswered && reading.codec.isReusable, "a new connection is unused")
        var start = 0
        do throws(HTTPFault) {
            for end in cuts {
                try reading.take(Array(bytes[start..<end]), from: start)
                start = end
            }
        } catch {
            reading.outcome.fault = error
            require(!reading.codec.isReusable, "whoever breaks HTTP is not asked again")
        }
        if reading.outcome.fault == nil { reading.finish() }
        require(reading.codec.hasAnswered == !bytes.isEmpty, "the first byte is an answer")
        return reading.outcome
    }

    private static func asking(_ method: String) -> HTTP1Client {
        var codec = HTTP1Client()
        var out: [UInt8] = []
        if method == "CONNECT" {
            codec.connect(to: "a:1", via: [], lines: [], to: &out)
        } else {
            guard let head = try? RequestHead(method: method, url: "http://a/") else { return codec }
            codec.send(head, Forwarding(framing: .none), to: &out)
            codec.end(to: &out)
        }
        return codec
    }

    private mutating func finish() {
        outcome.isReusable = codec.isReusable
        if outcome.end != nil { outcome.trailers = codec.trailers }
        var cut = codec
        require(!cut.ended(cleanly: false), "nothing ends by being cut off")
        outcome.endsWithConnection = codec.ended(cleanly: true)
        require(
            outcome.endsWithConnection == (outcome.framing == .untilClose), "one kind of body ends with the connection")
        require(!codec.isReusable, "a connection that has ended is not used again")
    }

    private mutating func take(_ piece: [UInt8], from start: Int) throws(HTTPFault) {
        var position = 0
        while true {
            if relays, let raw = codec.rawBody {
                let count = Int(min(raw, UInt64(piece.count - position)))
                outcome.body += piece[position..<position + count]
                position += count
                let isWhole = codec.passed(UInt64(count))
                require(isWhole == (raw == UInt64(count)), "the last byte makes it whole")
                if isWhole { outcome.end = start + position } else if count == 0 { return }
                continue
            }
            let before = position
            let event = try codec.read(piece.span, &position, limits: limits, maxTrailerBytes: 200)
            require(position >= before && position <= piece.count, "reading moves on")
            switch event {
            case .needsMore:
                require(position == piece.count, "more is asked for only when all is used up")
                return
            case .interim:
                require(outcome.status == nil && codec.head.isInterim, "interim responses come first")
                outcome.interims.append(codec.head.status)
            case .head(let framing):
                require(outcome.status == nil && codec.head.status >= 200, "there is one final head")
                begin(framing)
            case .switched:
                require(outcome.status == nil && !codec.isReusable, "there is one final head")
                outcome.isSwitched = true
                begin(.none)
                outcome.end = start + position
                // what follows is no business of the codec
                return
            case .data(let range):
                require(!range.isEmpty && range.lowerBound >= before && range.upperBound <= position, "data moves on")
                require(outcome.end == nil, "nothing is read past the end")
                outcome.body += piece[range]
            case .end:
                require(outcome.end == nil && outcome.framing != .untilClose, "a response ends once")
                outcome.end = start + position
            }
        }
    }

    private mutating func begin(_ framing: BodyFraming) {
        outcome.status = codec.head.status
        outcome.fields = codec.head.fields.lines.map { "\($0.name)=\($0.value)" }
        outcome.framing = framing
    }
}

/// A response with what comes before and after it: the same in any pieces, also where its body is passed on unread; it does
/// not touch what follows; and written for a client it reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP1Client(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let cuts = input.cuts()
    for method in ["GET", "HEAD", "CONNECT"] {
        let whole = Reading.run(input.bytes, [input.bytes.count], method)
        require(Reading.run(input.bytes, cuts, method) == whole, "pieces read like the whole")
        require(
            Reading.run(input.bytes, cuts, method, relays: true) == whole, "what is passed on counts like what is read")
        if case .length(let length) = whole.framing, whole.end != nil {
            require(UInt64(whole.body.count) == length, "a body is as long as its head says")
        }
        if whole.framing == BodyFraming.none { require(whole.body.isEmpty, "no body is no body") }
        guard let end = whole.end else {
            require(whole.framing != .untilClose || !whole.isReusable, "such an end is the last")
            continue
        }
        var first = Reading.run(Array(input.bytes[..<end]), [end], method)
        require(!whole.isReusable || end == input.bytes.count, "whoever says more than was asked is not asked again")
        first.isReusable = whole.isReusable
        require(first == whole, "a response ends where it ends")
        if !whole.isSwitched { writeAgain(whole, method) }
    }
    return 0
}

private func writeAgain(_ response: Outcome, _ method: String) {
    guard let status = response.status, let framing = response.framing, method != "CONNECT" else { return }
    var server = HTTP1Server()
    var request = RequestHead()
    let asked = Array("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var written: [UInt8] = []
    do throws(HTTPFault) {
        _ = try server.readHead(asked.span, into: &request, limits: limits)
        _ = try server.begin(request, maxTrailerBytes: 0)
    } catch {
        require(false, "a plain request can be read")
    }
    server.respond(ResponseHead(status: status, reason: ""), framing, ResponseManner(), to: &written)
    server.write(response.body.span, to: &written)
    server.end(trailers: response.trailers, to: &written)
    require(!server.isLast, "such a response leaves room for another request")
    let again = Reading.run(written, [written.count], method)
    require(again.status == status && again.framing == framing, "the framing survives writing")
    require(again.body == response.body && again.trailers == response.trailers, "a written body reads the same")
    require(again.end == written.count && again.isReusable, "a written response ends where it ends")
}
