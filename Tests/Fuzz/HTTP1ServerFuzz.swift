internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private struct Message: Equatable {
    var line: [String]
    var fields: [String]
    var framing: BodyFraming
    var body: [UInt8] = []
    var trailers: [UInt8] = []
    /// Behind its last byte; nil where it did not come whole.
    var end: Int?
}

private struct Outcome: Equatable {
    var messages: [Message] = []
    var isLast = false
    var fault: HTTPFault?
}

/// One connection that takes its bytes in pieces, and answers nothing.
private struct Reading {
    /// What a relay may pass on without a look is not looked at.
    let relays: Bool
    var codec = HTTP1Server()
    var head = RequestHead()
    /// What came and was not used.
    var pending: [UInt8] = []
    var used = 0
    var outcome = Outcome()

    init(relays: Bool) { self.relays = relays }

    static func run(_ bytes: [UInt8], _ cuts: [Int], relays: Bool = false) -> Outcome {
        var reading = Reading(relays: relays)
        var start = 0
        do throws(HTTPFault) {
            for end in cuts {
                reading.pending += bytes[start..<end]
                start = end
                while try reading.goOn() {}
                if reading.outcome.isLast { break }
            }
        } catch {
            reading.outcome.fault = error
        }
        return reading.outcome
    }

    private mutating func use(_ count: Int) {
        pending.removeFirst(count)
        used += count
    }

    /// - Returns: false where it needs more, or reads no more.
    private mutating func goOn() throws(HTTPFault) -> Bool {
        if codec.awaitsHead {
            let bytes = pending
            guard let count = try codec.readHead(bytes.span, into: &head, limits: limits) else { return false }
            require(count > 0 && count <= pending.count, "a head is inside the input")
            use(count)
            let framing = try codec.begin(head, maxTrailerBytes: 200)
            require(!codec.awaitsHead, "a request that has begun is not read again")
            require(codec.isComplete == (framing == .none), "only a request without a body is whole at once")
            outcome.messages.append(
                Message(
                    line: [head.methodText, head.targetText, "\(head.version)"],
                    fields: head.fields.lines.map { "\($0.name)=\($0.value)" },
                    framing: framing))
        }
        let index = outcome.messages.count - 1
        try readBody(of: index)
        guard codec.isComplete else { return false }
        require(codec.rawBody == nil, "nothing is left of a whole request")
        let rest = pending
        var position = 0
        require(try codec.readBody(rest.span, &position) == .end && position == 0, "nothing is read past the end")
        outcome.messages[index].end = used
        outcome.messages[index].trailers = codec.trailers
        outcome.isLast = codec.isLast
        guard !codec.isLast else { return false }
        codec.next()
        require(codec.awaitsHead, "another request may come")
        return true
    }

    private mutating func readBody(of index: Int) throws(HTTPFault) {
        if relays, let raw = codec.rawBody {
            let count = min(raw, UInt64(pending.count))
            codec.passed(count)
            outcome.messages[index].body += pending.prefix(Int(count))
            return use(Int(count))
        }
        let bytes = pending
        var position = 0
        while true {
            let before = position
            let raw = codec.rawBody
            switch try codec.readBody(bytes.span, &position) {
            case .data(let range):
                require(!range.isEmpty && range.lowerBound >= before && range.upperBound <= position, "data moves on")
                outcome.messages[index].body += pending[range]
                if let raw {
                    require(raw - UInt64(range.count) == codec.rawBody ?? 0, "what is left grows less by what came")
                }
            case .needsMore:
                require(position == pending.count && !codec.isComplete, "more is asked for only when all is used up")
                return use(position)
            case .end:
                require(codec.isComplete, "the end is the end")
                return use(position)
            }
        }
    }
}

/// Requests on one connection: the same in any pieces, also where bodies are passed on unread; none touches the bytes of the
/// next one; and written for the next hop each reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP1Server(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = Reading.run(input.bytes, [input.bytes.count])
    let cuts = input.cuts()
    require(Reading.run(input.bytes, cuts) == whole, "pieces read like the whole")
    require(Reading.run(input.bytes, cuts, relays: true) == whole, "what is passed on counts like what is read")
    require(whole.messages.dropLast().allSatisfy { $0.end != nil }, "a request begins behind the end of another")
    var before = 0
    for (index, message) in whole.messages.enumerated() {
        guard let end = message.end else { break }
        require(end > before, "every request has bytes of its own")
        if case .length(let length) = message.framing {
            require(UInt64(message.body.count) == length, "a body is as long as its head says")
        }
        let first = Reading.run(Array(input.bytes[..<end]), [end])
        require(first.messages == Array(whole.messages[...index]) && first.fault == nil, "a request ends where it ends")
        writeAgain(Array(input.bytes[before..<end]), message)
        before = end
    }
    return 0
}

private func writeAgain(_ bytes: [UInt8], _ message: Message) {
    var server = HTTP1Server()
    var head = RequestHead()
    guard (try? server.readHead(bytes.span, into: &head, limits: limits)) != nil, head.method != .connect,
        (try? head.settleHost()) != nil
    else { return }
    var client = HTTP1Client()
    var written: [UInt8] = []
    client.send(head, Forwarding(framing: message.framing), to: &written)
    let half = message.body.count / 2
    client.write(message.body.span.extracting(first: half), to: &written)
    client.write(message.body.span.extracting(droppingFirst: half), to: &written)
    client.end(trailers: message.trailers, to: &written)

    var again = HTTP1Server()
    var body: [UInt8] = []
    do throws(HTTPFault) {
        guard var position = try again.readHead(written.span, into: &head, limits: HeadLimits()) else {
            return require(false, "a written head is whole")
        }
        require(try again.begin(head, maxTrailerBytes: 200) == message.framing, "the framing survives writing")
        while case .data(let range) = try again.readBody(written.span, &position) { body += written[range] }
        require(again.isComplete && position == written.count, "a written request ends where it ends")
        require(body == message.body && again.trailers == message.trailers, "a written body reads the same")
    } catch {
        require(false, "a written request can be read")
    }
}
