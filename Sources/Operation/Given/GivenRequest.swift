import Formats
import HTTP1
import HTTPCodec
import ProxyCore

/// A request as somebody wrote it down to have it explained, made into what a client would send to its proxy.
struct GivenRequest {
    private(set) var head: RequestHead
    private var given: GivenMessage

    /// Its client speaks HTTP/2, where that is agreed on.
    private(set) var wantsHTTP2 = false
    /// Its client would speak HTTP/2, but not with a proxy that it asks for an http URL.
    private(set) var keepsToHTTP1 = false
    /// The URL that it was written with.
    private var url: (target: Target, host: String) = (Target(), "")

    /// Where the client has a tunnel made to first: a request for an https URL goes in one.
    var tunnel: Origin? {
        guard url.target.form != .authority, url.target.scheme == .https else { return nil }
        return Origin(scheme: .https, host: url.host, port: url.target.port)
    }

    var body: [UInt8] { given.body }
    /// In HTTP/1.
    var message: [UInt8] { given.bytes }

    /// What comes to the proxy, or through the tunnel, in the protocol that is spoken there.
    func message(_ settings: HTTP2Settings) -> DryMessage {
        // what is in the stream of a CONNECT is a connection that begins with it in HTTP/1
        let isStream = version(settings) == .http2 && head.target.form != .authority
        return isStream ? .stream(head, body: body) : .bytes(message)
    }

    /// A handshake agrees on a protocol; without one, the client says what it has decided on.
    func version(_ settings: HTTP2Settings) -> HTTPVersion {
        if wantsHTTP2 { return tunnel == nil || settings.clients ? .http2 : .http11 }
        return head.version == .http10 ? .http10 : .http11
    }

    /// - Parameter text: what somebody pasted.
    init(_ text: [UInt8]) throws(Explanation.Fault) { try self.init(PastedText(text)) }

    /// - Parameter pasted: an HTTP message, lines ended by CRLF or LF, the fields of one in HTTP/2 (`GivenFields`), or a curl command.
    /// - Throws: `Explanation.Fault` where it can be read as none of these.
    init(_ pasted: PastedText) throws(Explanation.Fault) {
        let trimmed = pasted.request
        guard !trimmed.isEmpty else {
            throw Explanation.Fault(description: "nothing to explain: give an HTTP message or a curl command")
        }
        if let fields = try GivenFields(pasted: trimmed) {
            head = try fields.head()
            given = GivenMessage(head, fields.body)
            url = (head.target, head.host)
            wantsHTTP2 = true
            finish(isCommand: false)
            return
        }
        let isCommand = pasted.isCommand
        if isCommand {
            let request = try Self.command(String(decoding: trimmed, as: UTF8.self))
            given = GivenMessage(try Self.message(of: request))
            if let input = pasted.input {
                given.body = input
                given.setLength()
            }
            wantsHTTP2 = request.wantsHTTP2
        } else {
            given = GivenMessage(trimmed)
            wantsHTTP2 = given.takeVersion()
        }
        do throws(HTTPFault) {
            head = try Self.read(given)
            if head.target.form == .origin || head.target.form == .asterisk {
                // as the origin sees it, or a browser shows it; a client tells its proxy the whole URL
                try head.settleHost(scheme: wantsHTTP2 ? .https : .http)
                given.lines[0] = startLine(head.url)
                head = try Self.read(given)
            }
        } catch {
            throw Explanation.Fault(
                description: "this is no HTTP request: \(error.explanation) (byte \(error.offset))")
        }
        url = (head.target, head.host)
        if isCommand, wantsHTTP2, tunnel == nil {
            wantsHTTP2 = false
            keepsToHTTP1 = true
        }
        if wantsHTTP2 {
            let fields = GivenFields(of: head, body: given.body)
            head = try fields.head()
            given = GivenMessage(head, fields.body)
        }
        finish(isCommand: isCommand)
    }

    private mutating func finish(isCommand: Bool) {
        tellLength(always: isCommand || !wantsHTTP2)
        // as a client asks in its tunnel: the origin is named by Host alone
        if tunnel != nil { given.lines[0] = startLine(targetInTunnel) }
    }

    // MARK: a message

    private func startLine(_ target: String) -> [UInt8] {
        Array("\(head.methodText) \(target) HTTP/1.\(head.version == .http10 ? 0 : 1)".utf8)
    }

    private var targetInTunnel: String {
        if head.target.form == .asterisk { return "*" }
        return head.query.map { "\(head.path)?\($0)" } ?? head.path
    }

    /// How much is too much is decided when the request is run.
    private static func read(_ given: GivenMessage) throws(HTTPFault) -> RequestHead {
        let bytes = given.head
        var head = RequestHead()
        var leg = HTTP1Server()
        let limits = HeadLimits(bytes: bytes.count, fields: bytes.count, target: bytes.count)
        _ = try leg.readHead(bytes.span, into: &head, limits: limits)
        return head
    }

    /// A message that was copied from somewhere may have lost its length, or its body: what is here is what there is.
    /// - Parameter always: a body has to have a length.
    private mutating func tellLength(always: Bool) {
        if head.fields.contains(.transferEncoding) { return }
        guard head.fields.contains(.contentLength) else {
            given.dropBlankBody()
            if !body.isEmpty, always { setLength() }
            return
        }
        let stated = head.fields.values(named: "Content-Length")
        guard stated.count == 1, let count = Int(stated[0]), count >= 0 else { return }
        if count > body.count { setLength() } else { given.body.removeLast(body.count - count) }
    }

    private mutating func setLength() {
        head.fields.set("Content-Length", String(body.count))
        given.setLength()
    }

    // MARK: a command

    private static func command(_ text: String) throws(Explanation.Fault) -> CurlCommand.Request {
        do throws(CurlCommand.Fault) {
            return try CurlCommand.request(text)
        } catch {
            throw Explanation.Fault(description: error.description)
        }
    }

    private static func message(of request: CurlCommand.Request) throws(Explanation.Fault) -> [UInt8] {
        var head: RequestHead
        do throws(HTTPFault) {
            head = try RequestHead(method: request.method, url: request.url)
        } catch {
            throw Explanation.Fault(description: "the URL cannot be used: \(error.explanation)")
        }
        for (name, value) in request.headers {
            guard let value else {
                head.fields.remove(named: name)
                continue
            }
            guard FieldSyntax.isName(name), FieldSyntax.isValue(value) else {
                throw Explanation.Fault(description: "the header \(name) holds what no header may hold")
            }
            if ASCII.equal(name, "host") { head.fields.set(name, value) } else { head.fields.add(name, value) }
        }
        var text = "\(head.methodText) \(head.url) HTTP/1.1\r\n"
        for (name, value) in head.fields.lines { text += "\(name): \(value)\r\n" }
        if request.body?.isEmpty == true, !head.fields.contains(.contentLength) { text += "Content-Length: 0\r\n" }
        return Array((text + "\r\n" + (request.body ?? "")).utf8)
    }
}
