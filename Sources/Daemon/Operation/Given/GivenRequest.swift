import Formats
import HTTP1
import HTTPCodec
import ProxyCore

/// A request given as text, converted into the form that a client sends to its proxy.
struct GivenRequest {
    private(set) var head: RequestHead
    private var given: GivenMessage

    /// True if the client uses HTTP/2 where it is negotiated.
    private(set) var wantsHTTP2 = false
    /// True if the client would use HTTP/2, but not for http URLs over a proxy.
    private(set) var keepsToHTTP1 = false
    /// The URL in the text.
    private var url: (target: Target, host: String) = (Target(), "")

    /// The origin of the tunnel that the client opens first. Requests for https URLs use one.
    var tunnel: Origin? {
        guard url.target.form != .authority, url.target.scheme == .https else { return nil }
        return Origin(scheme: .https, host: url.host, port: url.target.port)
    }

    var body: [UInt8] { given.body }
    /// The message in HTTP/1.
    var message: [UInt8] { given.bytes }

    /// The message that the proxy receives, or the tunnel carries, in the version in use.
    func message(_ settings: HTTP2Settings) -> DryMessage {
        // in the stream of a CONNECT, the connection begins with this message in HTTP/1
        let isStream = version(settings) == .http2 && head.target.form != .authority
        return isStream ? .stream(head, body: body) : .bytes(message)
    }

    /// The version that TLS negotiates; without TLS, the client's choice.
    func version(_ settings: HTTP2Settings) -> HTTPVersion {
        if wantsHTTP2 { return tunnel == nil || settings.clients ? .http2 : .http11 }
        return head.version == .http10 ? .http10 : .http11
    }

    /// - Parameter text: pasted text.
    init(_ text: [UInt8]) throws(Explanation.Fault) { try self.init(PastedText(text)) }

    /// - Parameter pasted: an HTTP message with CRLF or LF, the fields of an HTTP/2 request (`GivenFields`), or a curl command.
    /// - Throws: `Explanation.Fault` if it is none of these.
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
            let request = try CurlCommand.request(String(decoding: trimmed, as: UTF8.self))
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
                // origin form, as an origin receives it or a browser shows it; clients send the whole URL to a proxy
                try head.settleHost(scheme: wantsHTTP2 ? .https : .http)
                given.lines[0] = startLine(head.url)
                head = try Self.read(given)
            }
        } catch {
            throw Explanation.Fault(
                description: "not an HTTP request: \(error.explanation) (byte \(error.offset))")
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
        // inside a tunnel, only Host names the origin
        if tunnel != nil { given.lines[0] = startLine(targetInTunnel) }
    }

    // MARK: message

    private func startLine(_ target: String) -> [UInt8] {
        Array("\(head.methodText) \(target) HTTP/1.\(head.version == .http10 ? 0 : 1)".utf8)
    }

    private var targetInTunnel: String {
        if head.target.form == .asterisk { return "*" }
        return head.query.map { "\(head.path)?\($0)" } ?? head.path
    }

    /// Size limits apply when the request is run.
    private static func read(_ given: GivenMessage) throws(HTTPFault) -> RequestHead {
        let bytes = given.head
        var head = RequestHead()
        var codec = HTTP1Server()
        let limits = HeadLimits(bytes: bytes.count, fields: bytes.count, target: bytes.count)
        _ = try codec.readHead(bytes.span, into: &head, limits: limits)
        return head
    }

    /// Corrects the length, because a copied message may lack its length or its body.
    /// - Parameter always: true if a body must have a length.
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

    // MARK: curl

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
                throw Explanation.Fault(description: "the header \(name) has a character that headers cannot have")
            }
            if ASCII.equal(name, "host") { head.fields.set(name, value) } else { head.fields.add(name, value) }
        }
        var text = "\(head.methodText) \(head.url) HTTP/1.1\r\n"
        for (name, value) in head.fields.lines { text += "\(name): \(value)\r\n" }
        if request.body?.isEmpty == true, !head.fields.contains(.contentLength) { text += "Content-Length: 0\r\n" }
        return Array((text + "\r\n" + (request.body ?? "")).utf8)
    }
}
