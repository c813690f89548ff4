import HTTP2
import HTTPCodec

/// The client of a dry run: it collects the proxy's bytes and reacts to them.
struct DryClient {
    private struct Stream {
        let codec = HTTP2Client()
        var id: StreamID?
        var response: DryResponse?
        /// The connection is broken.
        var hasFailed = false
    }

    /// The most bytes and fields of a head; the proxy has already checked them.
    private static let most = 1 << 30

    /// The bytes that came in HTTP/1.
    private var bytes: [UInt8] = []
    /// The HTTP/2 connection; nil in HTTP/1.
    private var stream: Stream?

    /// Drops all bytes so far.
    mutating func forget() { bytes = [] }

    // MARK: HTTP/2

    /// Starts HTTP/2.
    /// - Returns: the first bytes to send.
    mutating func beginStreams() -> [UInt8] {
        let stream = Stream()
        var out: [UInt8] = []
        stream.codec.used(0, of: StreamID(0), to: &out)
        self.stream = stream
        return out
    }

    /// - Returns: the bytes of the request, as far as the windows allow.
    mutating func ask(_ head: RequestHead, _ body: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        guard let codec = stream?.codec, let id = codec.begin() else { return [] }
        stream.change { $0.id = id }
        let announced = try? head.framing()
        var forwarding = Forwarding(framing: body.isEmpty ? .none : .chunked)
        if !body.isEmpty, case .length = announced { forwarding.framing = .length(UInt64(body.count)) }
        forwarding.upgrades = head.fields.contains(.upgrade)
        codec.send(head, forwarding, on: id, to: &out)
        if body.isEmpty { return out }
        codec.write(body.span, on: id, to: &out)
        codec.end(trailers: [], on: id, to: &out)
        return out
    }

    // MARK: responses

    /// - Returns: the client's bytes in reaction.
    mutating func took(_ bytes: [UInt8]) -> [UInt8] {
        guard let stream else {
            self.bytes += bytes
            return []
        }
        guard !stream.hasFailed else { return [] }
        var out: [UInt8] = []
        var position = 0
        let limits = HeadLimits(bytes: Self.most, fields: Self.most, target: Self.most)
        do throws(HTTPFault) {
            while true {
                let event = try stream.codec.read(
                    bytes.span, &position, now: 0, limits: limits, maxTrailerBytes: Self.most, to: &out)
                if event == .needsMore { break }
                if case .response(stream.id, let part) = event { note(part, bytes, stream.codec, &out) }
            }
        } catch {
            self.stream.change { $0.hasFailed = true }
        }
        return out
    }

    private mutating func note(_ part: ResponseEvent, _ bytes: [UInt8], _ codec: HTTP2Client, _ out: inout [UInt8]) {
        switch part {
        case .needsMore, .interim: break
        case .head: start(codec.head, isWhole: false)
        case .switched: start(codec.head, isWhole: true)
        case .data(let range):
            stream?.response?.body += bytes[range]
            if let id = stream?.id { codec.used(range.count, of: id, to: &out) }
        case .end: stream.change { stream in stream.response.change { $0.isWhole = true } }
        }
    }

    private mutating func start(_ head: ResponseHead, isWhole: Bool) {
        stream.change { $0.response = DryResponse(head: head, body: [], isWhole: isWhole) }
    }

    /// The final response among the received bytes; nil if there is none.
    func response(to request: RequestHead, endsCleanly: Bool) -> DryResponse? {
        if let stream { return stream.response }
        return DryResponse(reading: bytes, to: request, endsCleanly: endsCleanly)
    }
}
