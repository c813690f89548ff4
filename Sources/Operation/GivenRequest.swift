import Formats
import HTTP1
import HTTPCodec
import ProxyCore

/// A request as somebody wrote it down to have it explained, made into what a client would send to its proxy.
struct GivenRequest {
    private(set) var head: RequestHead
    private var given: GivenMessage

    /// Where the client has a tunnel made to first: a request for an https URL goes in one.
    var tunnel: Origin? {
        guard head.target.form != .authority, head.target.scheme == .https else { return nil }
        return Origin(scheme: .https, host: head.host, port: head.target.port)
    }

    var body: [UInt8] { given.body }
    var message: [UInt8] { given.bytes }

    /// - Parameter text: an HTTP message, lines ended by CRLF or LF, or a curl command.
    /// - Throws: `Explanation.Fault` where it can be read as neither.
    init(_ text: [UInt8]) throws(Explanation.Fault) {
        guard let start = text.firstIndex(where: { $0 > 0x20 }) else {
            throw Explanation.Fault(description: "nothing to explain: give an HTTP message or a curl command")
        }
        let trimmed = Array(text[start...])
        let isCommand = trimmed.starts(with: "curl ".utf8)
        given = GivenMessage(isCommand ? try Self.message(of: String(decoding: trimmed, as: UTF8.self)) : trimmed)
        do throws(HTTPFault) {
            head = try Self.read(given)
            if head.target.form == .origin || head.target.form == .asterisk {
                // as the origin sees it, or a browser shows it; a client tells its proxy the whole URL
                try head.settleHost()
                given.lines[0] = startLine(head.url)
                head = try Self.read(given)
            }
        } catch {
            throw Explanation.Fault(
                description: "this is no HTTP request: \(error.explanation) (byte \(error.offset))")
        }
        tellLength()
        // as a client asks in its tunnel: the origin is named by Host alone
        if tunnel != nil { given.lines[0] = startLine(targetInTunnel) }
    }

    // MARK: a message

    private func startLine(_ target: String) -> [UInt8] {
        Array("\(head.methodText) \(target) HTTP/1.\(head.version == .http11 ? 1 : 0)".utf8)
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
    private mutating func tellLength() {
        if head.fields.contains(.transferEncoding) { return }
        guard head.fields.contains(.contentLength) else {
            given.dropBlankBody()
            if !body.isEmpty { setLength() }
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

    private static func message(of command: String) throws(Explanation.Fault) -> [UInt8] {
        do {
            let request = try CurlCommand.request(command)
            var head = try RequestHead(method: request.method, url: request.url)
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
        } catch let fault as CurlCommand.Fault {
            throw Explanation.Fault(description: fault.description)
        } catch let fault as HTTPFault {
            throw Explanation.Fault(description: "the URL cannot be used: \(fault.explanation)")
        } catch let fault as Explanation.Fault {
            throw fault
        } catch {
            throw Explanation.Fault(description: "\(error)")
        }
    }
}
