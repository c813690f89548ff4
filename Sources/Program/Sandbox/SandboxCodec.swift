internal import Formats
internal import HTTP1
internal import HTTPCodec

/// The codec of one connection: it reads complete requests and writes responses.
struct SandboxCodec: Sendable {
    enum Event: Sendable {
        case needsMore
        /// The client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(SandboxRequest)
        /// The request is refused. Nothing more can be read from this connection.
        case refused(Int, String)
    }

    private var server: MessageServer

    /// - Parameters:
    /// - maxBody: in bytes.
    /// - scheme: the scheme of URLs to this server.
    init(maxBody: Int, scheme: Target.Scheme) {
        server = MessageServer(limits: HeadLimits(), maxBody: maxBody, scheme: scheme)
    }

    // MARK: requests

    /// The next event in `input`, whose used bytes are removed. Each request has to be answered before the next is read.
    mutating func next(_ input: inout [UInt8]) -> Event {
        var position = 0
        defer { input.removeFirst(position) }
        while true {
            switch server.next(input, &position) {
            case .needsMore: return .needsMore
            // only CONNECT has no body
            case .malformed(let fault) where fault.code == .bodyNotAllowed: return refuse(405, Self.noProxy)
            case .head where server.head.target.form == .authority: return refuse(405, Self.noProxy)
            case .head: continue
            case .expectsContinue: return .expectsContinue
            case .request(let body): return .request(SandboxRequest(head: server.head, body: body))
            case .malformed(let fault): return refuse(fault.status, fault.explanation)
            case .unknownExpectation: return refuse(417, "an unknown expectation")
            case .tooLarge: return refuse(413, "the body is longer than \(server.maxBody) bytes")
            }
        }
    }

    private static let noProxy = "this is not a proxy"

    private mutating func refuse(_ status: Int, _ text: String) -> Event {
        server.codec.giveUpHead()
        return .refused(status, text)
    }

    // MARK: answers

    /// The 100 Continue response.
    func goOn() -> [UInt8] { server.goOn() }

    /// - Parameter now: seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    mutating func answer(_ response: SandboxResponse, now: Int) -> (message: [UInt8], ends: Bool) {
        var head = ResponseHead(status: response.status, reason: ReasonPhrase.of(response.status))
        head.fields.add("Date", CalendarTime(now).http)
        head.fields.add("Server", "usher-sandbox")
        for field in response.fields { head.fields.add(field.name, field.value) }
        let content = response.body.content
        let framing: BodyFraming
        var size = Int.max
        switch response.body {
        case .bytes:
            // a HEAD keeps the length although the body is omitted
            if response.status != 204, response.status != 304 { head.fields.add("Content-Length", "\(content.count)") }
            framing = .length(UInt64(content.count))
        case .chunked(_, let most): (framing, size) = (.chunked, most)
        case .untilClose: framing = .untilClose
        }
        return server.finish(server.begin(head, framing, content, inPieces: size))
    }
}
