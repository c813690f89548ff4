import Formats
import HTTP2
import HTTPCodec
import ProxyCore
import TLSEngine

/// An origin at the far end of a connection of the proxy's: in HTTP/2 with many requests at a time, or in HTTP/1, read and
/// written by hand.
final class FarOrigin {
    /// A request that came to it.
    struct Request {
        let number: Int
        var stream: StreamID?
        var message: SeenMessage
        var method: String
        /// By which a WebSocket's server shows that it is one.
        var key: String?
        var isAnswered = false
        var isOver = false
    }

    let link: OriginLink
    let codec: HTTP2Server?
    private(set) var requests: [Request] = []
    /// Bytes on their way to the proxy.
    private(set) var outgoing: [UInt8] = []
    private var pending: [UInt8] = []
    private(set) var fault: String?
    /// It ends the connection when those have gone; nil where it goes on.
    private(set) var ends: Bool?
    /// It takes nothing of any body.
    private(set) var isStalled = false
    /// The numbers of requests, over all origins, in the order in which they came.
    private let next: () -> Int
    private var isInBody = false
    private(set) var isOver = false
    private var untaken: [(stream: StreamID, count: Int)] = []

    init(_ link: OriginLink, streams: Int = 100, next: @escaping () -> Int) {
        self.link = link
        self.next = next
        codec = link.shared == nil ? nil : HTTP2Server(maxStreams: streams)
    }

    var name: String { link.origin.description }

    func takeOutgoing(_ count: Int = .max) -> [UInt8] {
        let bytes = Array(outgoing.prefix(count))
        outgoing.removeFirst(bytes.count)
        return bytes
    }

    /// The proxy does not read these yet.
    func putBack(_ bytes: some Collection<UInt8>) { outgoing.insert(contentsOf: bytes, at: 0) }

    func stall(_ isStalled: Bool) {
        self.isStalled = isStalled
        guard !isStalled else { return }
        for (stream, count) in untaken { codec?.used(count, of: stream, to: &outgoing) }
        untaken = []
    }

    // MARK: what it gets

    func receive(_ bytes: [UInt8]) {
        guard let codec else {
            pending += bytes
            return readMessages()
        }
        var position = 0
        while fault == nil {
            do throws(HTTPFault) {
                let event = try codec.read(
                    bytes.span, &position, now: 0, limits: HeadLimits(), maxTrailerBytes: 4_000, to: &outgoing)
                if event == .needsMore { return }
                take(event, bytes, codec)
            } catch {
                fault = error.explanation
            }
        }
    }

    private func take(_ event: StreamServerEvent, _ bytes: [UInt8], _ codec: HTTP2Server) {
        switch event {
        case .needsMore: break
        case .head(let stream, _):
            let head = codec.head
            begin(head.methodText, head.url, head.fields.lines, stream)
        case .broken(_, let fault): self.fault = "a request breaks a rule: \(fault.explanation)"
        case .data(let stream, let range):
            change(stream) { $0.message.body += bytes[range] }
            if isStalled {
                untaken.append((stream, range.count))
            } else {
                codec.used(range.count, of: stream, to: &outgoing)
            }
        case .end(let stream): change(stream) { $0.message.end(trailers: codec.trailers) }
        case .reset(let stream):
            change(stream) {
                $0.message.isReset = true
                $0.isOver = true
            }
        case .violated(_, let fault): self.fault = "a request breaks a rule: \(fault.explanation)"
        }
    }

    private func begin(
        _ method: String, _ url: String, _ fields: some Sequence<(name: String, value: String)>, _ stream: StreamID?
    ) {
        requests.append(
            Request(
                number: next(), stream: stream, message: SeenMessage(start: "\(method) \(url)", fields: fields),
                method: method, key: fields.first { $0.name.lowercased() == "sec-websocket-key" }?.value))
    }

    private func change(_ stream: StreamID, _ body: (inout Request) -> Void) {
        if let index = requests.lastIndex(where: { $0.stream == stream }) { body(&requests[index]) }
    }

    /// The proxy has closed the connection.
    func ended() {
        guard !isOver else { return }
        isOver = true
        for index in requests.indices {
            if !requests[index].message.isWhole || !requests[index].isOver { requests[index].message.isReset = true }
            requests[index].isOver = true
        }
    }

    private func readMessages() {
        while fault == nil, !pending.isEmpty {
            if let last = requests.indices.last, requests[last].message.isTunnel {
                requests[last].message.body += pending
                pending = []
                return
            }
            do {
                switch try WireReader.next(pending[...], answering: nil) {
                case .incomplete(let part):
                    if let part { note(part) }
                    return
                case .message(let message, let used):
                    pending.removeFirst(used)
                    note(message)
                    isInBody = false
                    let trailers = Array(message.trailers.joined(separator: "\r\n").utf8)
                    requests[requests.count - 1].message.end(trailers: trailers)
                    if message["Upgrade"] != nil { requests[requests.count - 1].message.isTunnel = true }
                }
            } catch {
                fault = "\(error)"
            }
        }
    }

    private func note(_ message: WireMessage) {
        if !isInBody {
            isInBody = true
            let host = message["Host"] ?? ""
            let scheme = link.origin.scheme == .https ? "https" : "http"
            begin(message.method, "\(scheme)://\(host)\(message.target)", message.fields, nil)
        }
        requests[requests.count - 1].message.body = message.body
    }

    // MARK: what it says

    private func index(_ number: Int) throws -> Int {
        guard let index = requests.firstIndex(where: { $0.number == number }) else {
            throw WireReader.Fault.malformed("it has no request \(number)")
        }
        return index
    }

    func switches(_ number: Int) throws {
        var fields = [(name: "Upgrade", value: "websocket")]
        if let key = requests[try index(number)].key {
            let digest = Digest.sha1(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
            fields.append(("Sec-WebSocket-Accept", Base64.encode(digest)))
        }
        try answer(number, 101, fields, length: nil)
    }

    func interim(_ number: Int, _ status: Int, _ fields: [(name: String, value: String)]) throws {
        let request = requests[try index(number)]
        var head = ResponseHead(status: status, reason: "Hint")
        for (name, value) in fields { head.fields.add(name, value) }
        if let codec, let stream = request.stream {
            codec.interim(head, via: [], on: stream, to: &outgoing)
            codec.flush(to: &outgoing)
        } else {
            outgoing += (Self.text(head) + "\r\n").utf8
        }
    }

    private static func text(_ head: ResponseHead) -> String {
        "HTTP/1.1 \(head.status) \(head.reason)\r\n"
            + head.fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
    }

    /// Begins an answer.
    /// - Parameter length: of its body; nil where it goes on until it is ended.
    func answer(_ number: Int, _ status: Int, _ fields: [(name: String, value: String)], length: Int?) throws {
        let index = try index(number)
        requests[index].isAnswered = true
        var head = ResponseHead(status: status, reason: "Done")
        for (name, value) in fields { head.fields.add(name, value) }
        let hasNoBody = requests[index].method == "HEAD" || status == 204 || status == 304 || status == 101
        if let codec, let stream = requests[index].stream {
            let framing: BodyFraming = length.map { $0 == 0 ? .none : .length(UInt64($0)) } ?? .chunked
            codec.respond(head, status == 101 ? .none : framing, ResponseManner(), on: stream, to: &outgoing)
            codec.flush(to: &outgoing)
        } else {
            var text = Self.text(head)
            if status == 101 { text += "Connection: Upgrade\r\n" }
            if let length, status != 204, status != 101 { text += "Content-Length: \(length)\r\n" }
            if length == nil, !hasNoBody { text += "Transfer-Encoding: chunked\r\n" }
            outgoing += (text + "\r\n").utf8
        }
    }

    /// - Parameter isChunk: in HTTP/1, where the answer was begun without a length.
    func send(_ number: Int, _ bytes: [UInt8], isChunk: Bool) throws {
        let request = requests[try index(number)]
        if let codec, let stream = request.stream {
            _ = codec.write(bytes.span, on: stream, to: &outgoing)
            codec.flush(to: &outgoing)
        } else if isChunk, !bytes.isEmpty {
            outgoing += Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
        } else {
            outgoing += bytes
        }
    }

    func end(_ number: Int, trailers: [UInt8] = [], isChunked: Bool) throws {
        let index = try index(number)
        requests[index].isOver = true
        if let codec, let stream = requests[index].stream {
            codec.end(trailers: trailers, on: stream, to: &outgoing)
            codec.flush(to: &outgoing)
            if !requests[index].message.isWhole { codec.reset(stream, .complete, to: &outgoing) }
        } else if isChunked {
            outgoing += Array("0\r\n".utf8) + trailers + [0x0D, 0x0A]
        } else if requests[index].message.isTunnel {
            ends = true
        }
    }

    /// Gives an answer up in the middle; in HTTP/1 with its connection.
    func reset(_ number: Int) throws {
        let index = try index(number)
        requests[index].isOver = true
        if let codec, let stream = requests[index].stream {
            codec.reset(stream, .failed, to: &outgoing)
        } else {
            ends = false
        }
    }

    /// Says that it has made nothing of the request (RFC 9113 §8.7). HTTP/1 has no word for that.
    func refuse(_ number: Int) throws {
        let index = try index(number)
        guard let stream = requests[index].stream else {
            throw WireReader.Fault.malformed("HTTP/1 refuses no stream")
        }
        requests[index].isOver = true
        outgoing += Self.frame(3, stream.number, Self.number(7))
    }

    /// Takes no further streams than up to that request's; none where it is 0.
    func goAway(after number: Int) throws {
        let last = number == 0 ? 0 : requests[try index(number)].stream?.number ?? 0
        outgoing += Self.frame(7, 0, Self.number(last) + Self.number(0))
    }

    func close(cleanly: Bool) { ends = cleanly }

    /// The end has gone out.
    func hasEnded() { ends = nil }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func frame(_ kind: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        number(UInt32(payload.count)).dropFirst() + [kind, 0] + number(stream) + payload
    }
}
