internal import HTTP1
internal import HTTPCodec

/// What a client says in HTTP/2, written down: a line a frame.
///
/// `H1 5` begins a frame of fields on stream 1 with the flags 5; the lines behind it, up to an empty one, are the fields. `D1 1 text`
/// is data, `R1` a reset, `G text` bytes as they are, and `A` has the oldest request without an answer answered.
private struct Play {
    struct Head {
        let stream: UInt32
        var fields: [(name: [UInt8], value: [UInt8])] = []

        func value(_ name: String) -> [UInt8]? { fields.first { $0.name.elementsEqual(name.utf8) }?.value }
    }

    enum Step {
        case bytes([UInt8])
        case answer
    }

    private(set) var heads: [Head] = []
    private(set) var data: [UInt32: [UInt8]] = [:]
    private(set) var steps: [Step] = [
        .bytes(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0])
    ]
    /// Bytes came that are no frame of these.
    private(set) var isRaw = false

    init(_ text: [UInt8]) {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            let words = line.dropFirst().split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
            let stream = words.first.map(Self.number) ?? 0
            let flags = UInt8(truncatingIfNeeded: words.count > 1 ? Self.number(words[1]) : 0)
            switch line.first {
            case UInt8(ascii: "H"):
                var head = Head(stream: stream)
                while let field = lines.popFirst(), !field.isEmpty { head.fields.append(Self.field(field)) }
                heads.append(head)
                var block: [UInt8] = []
                for (name, value) in head.fields { block += [0x10] + Self.text(name) + Self.text(value) }
                frame(1, flags & 1 | 4, stream, block)
            case UInt8(ascii: "D"):
                let payload = words.count > 2 ? Array(words[2]) : []
                data[stream, default: []] += payload
                frame(0, flags & 1, stream, payload)
            case UInt8(ascii: "R"): frame(3, 0, stream, [0, 0, 0, 8])
            case UInt8(ascii: "G"):
                isRaw = true
                steps.append(.bytes(Array(line.dropFirst())))
            case UInt8(ascii: "A"): steps.append(.answer)
            default: break
            }
        }
    }

    private static func number(_ word: ArraySlice<UInt8>) -> UInt32 {
        word.prefix(4).reduce(0) { $1 >= 0x30 && $1 <= 0x39 ? $0 * 10 + UInt32($1 - 0x30) : $0 }
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8]) {
        guard let colon = line.dropFirst().firstIndex(of: 0x3A) else { return (Array(line), []) }
        let value = line[(colon + 1)...]
        return (Array(line[..<colon]), Array(value.first == 0x20 ? value.dropFirst() : value))
    }

    /// A literal of HPACK, without Huffman (RFC 7541 §5.2).
    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest % 128) | 0x80)
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }

    private mutating func frame(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        steps.append(.bytes(bytes(payload.count, 3) + [kind, flags] + bytes(Int(stream), 4) + payload))
    }
}

/// A connection that speaks HTTP/2 with its client, and HTTP/1 with origins that are there at once.
private struct Relay: ~Copyable {
    struct Sent {
        let id: ExchangeID
        let origin: Origin
        var wire: [UInt8] = []
        var isEnded = false
        var isReleased = false
        var isTunnel = false
    }

    private static let engine: Engine = {
        var settings = Settings()
        settings.limits.header = 2_000
        settings.limits.headerFields = 30
        return Engine(settings)
    }()

    private(set) var sent: [Sent] = []
    private var codecs: [HTTP1Client] = []
    private var connection = ClientConnection(engine: Relay.engine, client: "192.0.2.1:1", now: 0)
    private var out = CommandBuffer()
    private var asked = 0

    static func run(_ play: Play, _ cuts: (Int) -> [Int]) -> [Sent] {
        var relay = Relay()
        for step in play.steps {
            switch step {
            case .bytes(let bytes):
                var start = 0
                for end in cuts(bytes.count) {
                    relay.connection.received(Array(bytes[start..<end]).span, now: 0, &relay.out)
                    relay.carryOut()
                    start = end
                }
            case .answer: relay.answer()
            }
        }
        return relay.sent
    }

    private func index(_ id: ExchangeID) -> Int? { sent.firstIndex { $0.id == id && !$0.isReleased } }

    private mutating func answer() {
        guard let index = sent.firstIndex(where: { !$0.isReleased && $0.isEnded }) else { return }
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
        connection.received(bytes.span, through: &codecs[index], for: sent[index].id, now: 0, &out)
        carryOut()
    }

    private mutating func carryOut() {
        var done = 0
        var used = 0
        while done < out.commands.count {
            let command = out.commands[done]
            done += 1
            switch command {
            case .lease(let id, let origin, _, _):
                sent.append(Sent(id: id, origin: origin))
                codecs.append(HTTP1Client())
                connection.happened(.leased(reused: false, sendsRaw: false), to: id, now: 0, &out)
            case .reach(let id, _): connection.happened(.reached, to: id, now: 0, &out)
            case .send(let id, let place):
                guard let index = index(id) else { continue }
                let (head, forwarding) = (out.heads[place].head, out.heads[place].forwarding)
                sent[index].isTunnel = forwarding.upgrades
                codecs[index].send(head, forwarding, to: &sent[index].wire)
            case .sendBody(let id, let count):
                let bytes = Array(out.origin[used..<used + count])
                used += count
                if let index = index(id) { codecs[index].write(bytes.span, to: &sent[index].wire) }
            case .sendRaw(_, let count): used += count
            case .sendEnd(let id, let trailers):
                guard let index = index(id) else { continue }
                codecs[index].end(trailers: trailers, to: &sent[index].wire)
                sent[index].isEnded = true
            case .release(let id, _): if let index = index(id) { sent[index].isReleased = true }
            case .record(let id): connection.http.exchanges.takeRecord(of: id, &out) { _ in }
            case .proceed: connection.proceed(now: 0, &out)
            default: break
            }
        }
        connection.http.flush(&out)
        require(out.client.count <= 1 << 20, "what is answered has a bound")
        out.clearCommands()
        out.clearOrigin()
        out.clearClient()
    }
}

/// A request as a strict server of HTTP/1 reads it. It shares nothing with what wrote it.
private struct StrictRequest {
    private(set) var method: [UInt8] = []
    private(set) var target: [UInt8] = []
    private(set) var fields: [(name: [UInt8], value: [UInt8])] = []
    private(set) var body: [UInt8] = []
    private(set) var trailers: [(name: [UInt8], value: [UInt8])] = []
    private(set) var isWhole = false
    private var rest: ArraySlice<UInt8>

    init(_ wire: [UInt8]) {
        rest = wire[...]
        let first = line()
        require(first != nil, "a head goes out whole")
        let line = first ?? []
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        require(parts.count == 3 && parts[2].elementsEqual("HTTP/1.1".utf8), "a request line has three parts")
        method = Array(parts[0])
        target = Array(parts[1])
        require(!method.isEmpty && method.allSatisfy(Self.isToken), "a method is a token")
        require(
            target.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }, "a target has no fragment, space or control")
        require(
            target.first == 0x2F || target == [0x2A] && method.elementsEqual("OPTIONS".utf8), "a target is a path")
        fields = readFields()
        require(values("host").count == 1, "there is one Host")
        let lengths = values("content-length")
        let codings = values("transfer-encoding")
        require(lengths.count + codings.count <= 1, "a body's end is known in one way")
        if let coding = codings.first {
            require(coding.elementsEqual("chunked".utf8), "chunked is the only coding")
            readChunks()
        } else if let length = lengths.first {
            require(
                !length.isEmpty && length.count < 10 && length.allSatisfy { $0 >= 0x30 && $0 <= 0x39 },
                "a length is a number")
            let count = length.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            body = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            isWhole = body.count == count
        } else {
            isWhole = true
        }
        require(rest.isEmpty, "nothing stands behind a request")
    }

    func values(_ name: String) -> [[UInt8]] {
        fields.filter { Self.lower($0.name).elementsEqual(name.utf8) }.map(\.value)
    }

    static func lower(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Up to CRLF; nil where there is none.
    private mutating func line() -> [UInt8]? {
        var index = rest.startIndex
        while index + 1 < rest.endIndex {
            if rest[index] == 0x0D, rest[index + 1] == 0x0A {
                defer { rest = rest[(index + 2)...] }
                return Array(rest[..<index])
            }
            index += 1
        }
        return nil
    }

    private mutating func readFields() -> [(name: [UInt8], value: [UInt8])] {
        var read: [(name: [UInt8], value: [UInt8])] = []
        while true {
            guard let line = line() else {
                require(false, "fields go out whole")
                return read
            }
            if line.isEmpty { return read }
            guard let colon = line.firstIndex(of: 0x3A) else {
                require(false, "a field has a colon")
                return read
            }
            var value = line[(colon + 1)...]
            if value.first == 0x20 { value = value.dropFirst() }
            require(colon > 0 && line[..<colon].allSatisfy(Self.isToken), "a field's name is a token")
            require(value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "a value has no control character")
            require(value.first != 0x20 && value.last != 0x20, "a value has no space around it")
            read.append((Array(line[..<colon]), Array(value)))
        }
    }

    private mutating func readChunks() {
        while let line = line() {
            require(
                !line.isEmpty && line.count < 8 && line.allSatisfy { Self.hex($0) != nil }, "a chunk's size is a number"
            )
            let count = line.reduce(0) { $0 * 16 + (Self.hex($1) ?? 0) }
            if count == 0 {
                trailers = readFields()
                isWhole = true
                return
            }
            require(rest.count >= count + 2, "a chunk goes out whole")
            body += rest.prefix(count)
            rest = rest.dropFirst(count)
            require(self.line() == [], "a chunk ends where it ends")
        }
        require(rest.isEmpty, "a chunk's size goes out whole")
    }

    private static func hex(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte - 0x30)
        case 0x41...0x46: Int(byte - 0x37)
        case 0x61...0x66: Int(byte - 0x57)
        default: nil
        }
    }
}

extension Play {
    /// A head of the client's says all this.
    fileprivate func says(_ request: StrictRequest, to origin: Origin) -> Bool {
        heads.contains { head in
            let upgrade = head.value(":protocol")
            var host = head.value(":authority") ?? head.value("host") ?? []
            // an empty port is left out with its colon
            if host.last == 0x3A { host.removeLast() }
            guard request.values("host").first == host, head.value(":path") == request.target,
                head.value(":method") == (upgrade == nil ? request.method : Array("CONNECT".utf8)),
                origin.scheme == .http, data[head.stream, default: []].starts(with: request.body)
            else { return false }
            return request.fields.allSatisfy { field in
                let name = StrictRequest.lower(field.name)
                switch String(decoding: name, as: UTF8.self) {
                case "host", "via", "content-length", "transfer-encoding": return true
                case "connection", "sec-websocket-key": return upgrade != nil
                case "upgrade": return field.value == upgrade
                case "cookie":
                    var crumbs = head.fields.filter { $0.name.elementsEqual("cookie".utf8) }.map(\.value)
                    // the first may be empty, and others that are say nothing
                    crumbs = crumbs.prefix(1) + crumbs.dropFirst().filter { !$0.isEmpty }
                    return field.value == Array(crumbs.joined(separator: [0x3B, 0x20]))
                default: return head.fields.contains { $0.name == name && $0.value == field.value }
                }
            }
                && request.trailers.allSatisfy { field in
                    heads.contains { other in
                        other.stream == head.stream
                            && other.fields.contains {
                                $0.name == StrictRequest.lower(field.name) && $0.value == field.value
                            }
                    }
                }
        }
    }
}

/// HTTP/2 comes in and HTTP/1 goes out: each request that does is one request, the client's own, whatever came; and pieces give
/// the same as the whole.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStreams(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let play = Play(input.bytes)
    let cuts = input.cuts()
    let sent = Relay.run(play) { [$0] }
    for one in sent where !one.wire.isEmpty {
        let request = StrictRequest(one.wire)
        require(request.isWhole || !one.isEnded || one.isTunnel, "a request is whole when it has ended")
        // where the length was told beforehand, the last byte is the end
        require(
            one.isEnded || !request.isWhole || one.isTunnel || !request.values("content-length").isEmpty,
            "what is cut is not whole")
        if !play.isRaw { require(play.says(request, to: one.origin), "what goes out is what the client said") }
    }
    let pieces = Relay.run(play) { count in cuts.filter { $0 < count } + [count] }
    require(pieces.map(\.origin) == sent.map(\.origin), "pieces go to the same origins")
    require(pieces.map(\.isEnded) == sent.map(\.isEnded), "pieces end as the whole does")
    return 0
}
