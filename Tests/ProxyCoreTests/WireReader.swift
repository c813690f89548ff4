/// Reads HTTP/1 messages from bytes, plainly and on its own: what the proxy writes is checked by another reader than the
/// one that it reads with.
struct WireMessage: Equatable {
    var start: String
    var fields: [(name: String, value: String)]
    var body: [UInt8] = []
    var trailers: [String] = []
    var isChunked = false

    static func == (left: WireMessage, right: WireMessage) -> Bool { left.text == right.text }

    subscript(_ name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }
    /// Of a response.
    var status: Int { Int(start.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    var method: String { String(start.prefix { $0 != " " }) }
    var target: String { String(start.split(separator: " ").dropFirst().first ?? "") }
    var bodyText: String { Self.text(body) }

    /// One form for all ways in which a body may have been cut into chunks.
    var text: String {
        guard isChunked else { return headText + bodyText }
        var out = textOfPart + "0\r\n"
        for line in trailers { out += line + "\r\n" }
        return out + "\r\n"
    }

    private var headText: String {
        start + "\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    /// Of a chunked message that broke off.
    var textOfPart: String {
        headText + (body.isEmpty ? "" : String(body.count, radix: 16) + "\r\n" + bodyText + "\r\n")
    }

    /// A character for each byte, so that no two bytes look alike.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var view = String.UnicodeScalarView()
        for byte in bytes { view.append(Unicode.Scalar(byte)) }
        return String(view)
    }
}

struct WireReader {
    enum Fault: Error { case malformed(String) }

    enum Step {
        case message(WireMessage, used: Int)
        /// More bytes would be needed; the head, where it is here, and the body so far.
        case incomplete(WireMessage?)
    }

    /// Reads the message at the start of `bytes`.
    /// - Parameters:
    ///   - method: of the request that a response answers; nil reads a request.
    ///   - ended: no more bytes will come.
    static func next(_ bytes: ArraySlice<UInt8>, answering method: String?, ended: Bool = false) throws -> Step {
        guard let (lines, headEnd) = try lines(bytes) else { return .incomplete(nil) }
        guard let start = lines.first else { throw Fault.malformed("an empty head") }
        var message = WireMessage(start: start, fields: [])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw Fault.malformed(line) }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            message.fields.append((String(line[..<colon]), String(value)))
        }
        if method != nil {
            guard start.hasPrefix("HTTP/1.1 "), (100..<600).contains(message.status) else {
                throw Fault.malformed(start)
            }
        } else if !start.hasSuffix(" HTTP/1.1"), !start.hasSuffix(" HTTP/1.0") {
            throw Fault.malformed(start)
        }
        let lengths = message.values("Content-Length")
        let codings = message.values("Transfer-Encoding")
        guard lengths.count + codings.count <= 1 else { throw Fault.malformed("ambiguous framing") }
        if let method {
            let status = message.status
            if status < 200 || status == 204 {
                guard lengths.isEmpty, codings.isEmpty else { throw Fault.malformed("a length on \(status)") }
                return .message(message, used: headEnd - bytes.startIndex)
            }
            if status == 304 || method == "HEAD" || (method == "CONNECT" && status == 200) {
                return .message(message, used: headEnd - bytes.startIndex)
            }
        }
        if let coding = codings.first {
            guard coding == "chunked" else { throw Fault.malformed(coding) }
            message.isChunked = true
            return try chunked(bytes, headEnd, message)
        }
        if let text = lengths.first {
            guard let length = Int(text), length >= 0 else { throw Fault.malformed(text) }
            message.body = Array(bytes[headEnd...].prefix(length))
            guard message.body.count == length else { return .incomplete(message) }
            return .message(message, used: headEnd - bytes.startIndex + length)
        }
        guard method != nil else { return .message(message, used: headEnd - bytes.startIndex) }
        message.body = Array(bytes[headEnd...])
        return ended ? .message(message, used: bytes.count) : .incomplete(message)
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) throws -> ([String], Int)? {
        var lines: [String] = []
        var start = bytes.startIndex
        while let end = lineEnd(bytes, start) {
            if end == start { return (lines, end + 2) }
            lines.append(WireMessage.text(bytes[start..<end]))
            start = end + 2
        }
        return nil
    }

    private static func lineEnd(_ bytes: ArraySlice<UInt8>, _ start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.endIndex {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A { return index }
            index += 1
        }
        return nil
    }

    private static func chunked(
        _ bytes: ArraySlice<UInt8>, _ headEnd: Int, _ head: WireMessage
    ) throws -> Step {
        var message = head
        var position = headEnd
        while true {
            guard let end = lineEnd(bytes, position) else { return .incomplete(message) }
            let text = WireMessage.text(bytes[position..<end])
            guard let size = Int(text, radix: 16), size >= 0 else { throw Fault.malformed("chunk size \(text)") }
            position = end + 2
            if size == 0 { break }
            guard position + size + 2 <= bytes.endIndex else {
                message.body += bytes[position...].prefix(size)
                return .incomplete(message)
            }
            message.body += bytes[position..<position + size]
            position += size
            guard bytes[position] == 0x0D, bytes[position + 1] == 0x0A else { throw Fault.malformed("chunk end") }
            position += 2
        }
        while let end = lineEnd(bytes, position) {
            if end == position { return .message(message, used: end + 2 - bytes.startIndex) }
            message.trailers.append(WireMessage.text(bytes[position..<end]))
            position = end + 2
        }
        return .incomplete(message)
    }

    /// All messages in the bytes in one form, however their bodies were cut into chunks; what is left over comes as it
    /// is.
    /// - Returns: the text, and how many messages there were that are no interim responses.
    static func normalized(_ bytes: [UInt8], answering methods: [String]?) -> (text: String, count: Int) {
        var rest = bytes[...]
        var out = ""
        var index = 0
        while !rest.isEmpty {
            let method = methods.map { index < $0.count ? $0[index] : "GET" }
            guard let step = try? next(rest, answering: method), case .message(let message, let used) = step else {
                if case .incomplete(let part?)? = try? next(rest, answering: method), part.isChunked {
                    return (out + part.textOfPart, index)
                }
                break
            }
            out += message.isChunked ? message.text : WireMessage.text(rest.prefix(used))
            rest = rest.dropFirst(used)
            if methods == nil || message.status >= 200 { index += 1 }
        }
        return (out + WireMessage.text(rest), index)
    }
}
