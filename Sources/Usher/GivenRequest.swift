import Formats
import HTTP1
import HTTPCodec
import ProxyCore

/// A request as somebody wrote it down to have it explained, made into what a client would send to its proxy.
struct GivenRequest {
    private(set) var head: RequestHead
    private(set) var body: [UInt8]
    /// The lines of the head without their ends, the request line first.
    private var lines: [[UInt8]]

    /// Where the client has a tunnel made to first: a request for an https URL goes in one.
    var tunnel: Origin? {
        guard head.target.form != .authority, head.target.scheme == .https else { return nil }
        return Origin(scheme: .https, host: head.host, port: head.target.port)
    }

    var message: [UInt8] { Self.joined(lines) + body }

    /// - Parameter text: an HTTP message, lines ended by CRLF or LF, or a curl command.
    /// - Throws: `Explanation.Fault` where it can be read as neither.
    init(_ text: [UInt8]) throws(Explanation.Fault) {
        guard let start = text.firstIndex(where: { $0 > 0x20 }) else {
            throw Explanation.Fault(description: "nothing to explain: give an HTTP message or a curl command")
        }
        let trimmed = Array(text[start...])
        let isCommand = trimmed.starts(with: "curl ".utf8)
        let message = isCommand ? try Self.message(of: String(decoding: trimmed, as: UTF8.self)) : trimmed
        (lines, body) = Self.split(message)
        do throws(HTTPFault) {
            head = try Self.read(lines)
            if head.target.form == .origin || head.target.form == .asterisk {
                // as the origin sees it, or a browser shows it; a client tells its proxy the whole URL
                try head.settleHost()
                lines[0] = Array("\(head.methodText) \(head.url) HTTP/1.\(head.version == .http11 ? 1 : 0)".utf8)
                head = try Self.read(lines)
            }
        } catch {
            throw Explanation.Fault(
                description: "this is no HTTP request: \(error.explanation) (byte \(error.offset))")
        }
        tellLength()
    }

    // MARK: a message

    /// A message in a file has the line ends of the editor that wrote it.
    private static func split(_ text: [UInt8]) -> (lines: [[UInt8]], body: [UInt8]) {
        var lines: [[UInt8]] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: ASCII.lf) ?? text.count
            var line = Array(text[start..<end])
            start = min(end + 1, text.count)
            if end < text.count, line.last == ASCII.cr { line.removeLast() }
            if line.isEmpty { break }
            lines.append(line)
        }
        return (lines, Array(text[start...]))
    }

    private static func joined(_ lines: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines + [[]] { bytes += line + [ASCII.cr, ASCII.lf] }
        return bytes
    }

    /// How much is too much is decided when the request is run.
    private static func read(_ lines: [[UInt8]]) throws(HTTPFault) -> RequestHead {
        let bytes = joined(lines)
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
            if !body.isEmpty { setLength() }
            return
        }
        let stated = head.fields.values(named: "Content-Length")
        guard stated.count == 1, let count = Int(stated[0]), count >= 0 else { return }
        if count > body.count { setLength() } else { body.removeLast(body.count - count) }
    }

    private mutating func setLength() {
        head.fields.set("Content-Length", String(body.count))
        let name = "content-length:"
        lines.removeAll { ASCII.equal(String(decoding: $0.prefix(name.utf8.count), as: UTF8.self), name) }
        lines.append(Array("Content-Length: \(body.count)".utf8))
    }

    // MARK: a command

    private static func message(of command: String) throws(Explanation.Fault) -> [UInt8] {
        do {
            let request = try CurlCommand.request(command)
            var head = try RequestHead(method: request.method, url: request.url)
            for (name, value) in request.headers {
                guard FieldSyntax.isName(name), FieldSyntax.isValue(value) else {
                    throw Explanation.Fault(description: "the header \(name) holds what no header may hold")
                }
                if ASCII.equal(name, "host") { head.fields.set(name, value) } else { head.fields.add(name, value) }
            }
            var text = "\(head.methodText) \(head.url) HTTP/1.1\r\n"
            for (name, value) in head.fields.lines { text += "\(name): \(value)\r\n" }
            return Array((text + "\r\n" + request.body).utf8)
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
