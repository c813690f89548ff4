import HTTP2
import HTTPCodec

/// A client at the far end of its connection to the proxy: in HTTP/2 with many requests at a time, or in HTTP/1, written and read
/// by hand, with one after another.
final class FarClient {
    private struct Request {
        let key: Int
        let method: String
        var stream: StreamID?
        var isChunked = false
        var isStalled = false
        var untaken = 0
    }

    let driver: DriverModel
    let codec: HTTP2Client?
    private var requests: [Request] = []
    private(set) var responses: [Int: SeenMessage] = [:]
    /// Bytes on their way to the proxy.
    private(set) var outgoing: [UInt8] = []
    /// What came in HTTP/1 and was not read.
    private var pending: [UInt8] = []
    /// What it cannot make sense of.
    private(set) var fault: String?
    private(set) var isOver = false
    /// The proxy wants no further request on the connection.
    private(set) var wasToldToLeave = false

    /// It sends frames that are made by hand, and leaves what comes to who made them.
    private(set) var isByHand = false
    private var frames: [UInt8] = []

    init(_ driver: DriverModel, http2: Bool) {
        self.driver = driver
        codec = http2 ? HTTP2Client() : nil
        codec?.used(0, of: StreamID(0), to: &outgoing)
    }

    // MARK: frames

    init(byHand driver: DriverModel) {
        self.driver = driver
        codec = nil
        isByHand = true
        outgoing = WireFrame.preface
    }

    func say(_ frame: WireFrame) { outgoing += frame.bytes }

    /// What came since somebody looked.
    func takeFrames() -> [WireFrame] {
        let (whole, rest) = WireFrame.all(in: frames)
        frames = rest
        return whole
    }

    // MARK: what it says

    /// In HTTP/2: as many as the proxy allows. In HTTP/1: one after another.
    var mayAsk: Bool {
        guard fault == nil, !driver.isOver else { return false }
        return codec?.hasRoom ?? (!wasToldToLeave && requests.allSatisfy { responses[$0.key]?.isWhole == true })
    }

    /// Begins a request.
    /// - Parameter ends: it has no body.
    func ask(_ key: Int, _ method: String, _ url: String, _ fields: [(name: String, value: String)], ends: Bool) throws
    {
        var request = Request(key: key, method: method)
        var head = try RequestHead(method: method, url: url)
        for (name, value) in fields { head.fields.add(name, value) }
        let upgrades = head.fields.contains(.upgrade)
        if let codec {
            guard let stream = codec.begin() else { throw WireReader.Fault.malformed("no room for a stream") }
            request.stream = stream
            var forwarding = Forwarding(framing: ends || upgrades ? .none : .chunked)
            forwarding.upgrades = upgrades
            if let length = head.fields["content-length"], let count = UInt64(length), !ends {
                forwarding.framing = .length(count)
            }
            codec.send(head, forwarding, on: stream, to: &outgoing)
        } else {
            var text = "\(method) \(head.url) HTTP/1.1\r\n"
            for (name, value) in head.fields.lines { text += "\(name): \(value)\r\n" }
            if upgrades { text += "Connection: Upgrade\r\n" }
            request.isChunked = !ends && !upgrades && !head.fields.contains(.contentLength)
            if request.isChunked { text += "Transfer-Encoding: chunked\r\n" }
            outgoing += (text + "\r\n").utf8
        }
        requests.append(request)
    }

    private func request(_ key: Int) throws -> Request {
        guard let request = requests.last(where: { $0.key == key }) else {
            throw WireReader.Fault.malformed("there is no stream \(key)")
        }
        return request
    }

    func send(_ key: Int, _ bytes: [UInt8]) throws {
        let request = try request(key)
        if let codec, let stream = request.stream {
            codec.write(bytes.span, on: stream, to: &outgoing)
        } else if request.isChunked {
            outgoing += Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
        } else {
            outgoing += bytes
        }
    }

    func end(_ key: Int, trailers: [UInt8] = []) throws {
        let request = try request(key)
        if let codec, let stream = request.stream {
            codec.end(trailers: trailers, on: stream, to: &outgoing)
        } else if request.isChunked {
            outgoing += Array("0\r\n".utf8) + trailers + [0x0D, 0x0A]
        } else if responses[key]?.isTunnel == true {
            driver.clientEnds()
        }
    }

    /// Gives a request up; in HTTP/1 with its connection.
    func reset(_ key: Int) throws {
        let request = try request(key)
        if let codec, let stream = request.stream { codec.reset(stream, to: &outgoing) } else { driver.clientIsLost() }
    }

    /// Its bytes are not taken for a while: in HTTP/2 those of one stream, in HTTP/1 all.
    func stall(_ key: Int, _ isStalled: Bool) throws {
        guard let index = requests.lastIndex(where: { $0.key == key }) else { _ = try request(key); return }
        requests[index].isStalled = isStalled
        guard !isStalled, let stream = requests[index].stream, requests[index].untaken > 0 else { return }
        codec?.used(requests[index].untaken, of: stream, to: &outgoing)
        requests[index].untaken = 0
    }

    /// The bytes go to the proxy, so many at most.
    func takeOutgoing(_ count: Int = .max) -> [UInt8] {
        let bytes = Array(outgoing.prefix(count))
        outgoing.removeFirst(bytes.count)
        return bytes
    }

    /// The proxy does not read these yet.
    func putBack(_ bytes: some Collection<UInt8>) { outgoing.insert(contentsOf: bytes, at: 0) }

    /// Bytes of its requests that wait for the proxy's windows.
    var waiting: Int { requests.reduce(0) { sum, one in sum + (one.stream.flatMap { codec?.waiting(on: $0) } ?? 0) } }

    // MARK: what it gets

    /// It takes nothing at all.
    var isStalled: Bool { codec == nil && requests.last?.isStalled == true }

    func receive(_ bytes: [UInt8]) {
        if isByHand { return frames += bytes }
        guard let codec else {
            pending += bytes
            return readMessages(ended: false)
        }
        var position = 0
        while fault == nil {
            do throws(HTTPFault) {
                let event = try codec.read(
                    bytes.span, &position, now: 0, limits: HeadLimits(), maxTrailerBytes: 4_000, to: &outgoing)
                if event == .needsMore { break }
                take(event, bytes, codec)
            } catch {
                fault = error.explanation
            }
        }
        if !codec.isReusable { wasToldToLeave = true }
    }

    private func take(_ event: StreamClientEvent, _ bytes: [UInt8], _ codec: HTTP2Client) {
        switch event {
        case .needsMore, .pong, .drained: break
        case .broken(let stream, let fault):
            self.fault = fault.explanation
            _ = stream
        case .reset(let stream, _):
            guard let key = key(stream) else { return }
            responses[key, default: SeenMessage(start: "nothing", fields: [])].isReset = true
        case .response(let stream, let part):
            guard let index = requests.firstIndex(where: { $0.stream == stream }) else { return }
            let key = requests[index].key
            switch part {
            case .needsMore: break
            case .interim:
                responses[key, default: SeenMessage(start: "interim", fields: [])].interim.append(codec.head.status)
            case .head: begin(key, codec.head)
            case .switched:
                begin(key, codec.head)
                responses[key]?.isTunnel = true
            case .data(let range):
                responses[key]?.body += bytes[range]
                if requests[index].isStalled {
                    requests[index].untaken += range.count
                } else {
                    codec.used(range.count, of: stream, to: &outgoing)
                }
            case .end: responses[key]?.end(trailers: codec.trailers)
            }
        }
    }

    private func key(_ stream: StreamID) -> Int? { requests.first { $0.stream == stream }?.key }

    private func begin(_ key: Int, _ head: ResponseHead) {
        var message = SeenMessage(start: "\(head.status)", fields: head.fields.lines)
        message.interim = responses[key]?.interim ?? []
        responses[key] = message
    }

    /// Its connection is over.
    /// - Parameter cleanly: without a reset.
    func ended(cleanly: Bool) {
        guard !isOver else { return }
        isOver = true
        if codec == nil { readMessages(ended: cleanly) }
        for request in requests where responses[request.key]?.isWhole != true {
            let isTunnel = responses[request.key]?.isTunnel == true
            responses[request.key, default: SeenMessage(start: "nothing", fields: [])].isReset = !isTunnel || !cleanly
            if isTunnel, cleanly { responses[request.key]?.isWhole = true }
        }
    }

    // MARK: HTTP/1

    private func readMessages(ended: Bool) {
        while let request = requests.first(where: { responses[$0.key]?.isWhole != true }), fault == nil {
            if responses[request.key]?.isTunnel == true {
                responses[request.key]?.body += pending
                pending = []
                return
            }
            do {
                switch try WireReader.next(pending[...], answering: request.method, ended: ended) {
                case .incomplete(let part):
                    if let part { note(part, for: request.key) }
                    return
                case .message(let message, let used):
                    pending.removeFirst(used)
                    note(message, for: request.key)
                    guard message.status >= 200 || message.status == 101 else { continue }
                    if message["Connection"]?.lowercased() == "close" { wasToldToLeave = true }
                    if message.status == 101 {
                        responses[request.key]?.isTunnel = true
                        continue
                    }
                    responses[request.key]?.end(trailers: Array(message.trailers.joined(separator: "\r\n").utf8))
                }
            } catch {
                fault = "\(error)"
            }
        }
    }

    private func note(_ message: WireMessage, for key: Int) {
        if message.status < 200, message.status != 101 {
            return responses[key, default: SeenMessage(start: "interim", fields: [])].interim.append(message.status)
        }
        let interim = responses[key]?.interim ?? []
        var seen = SeenMessage(start: "\(message.status)", fields: message.fields)
        seen.interim = interim
        seen.body = message.body
        responses[key] = seen
    }
}
