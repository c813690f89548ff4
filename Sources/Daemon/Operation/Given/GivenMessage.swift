import Formats
import HTTPCodec

/// An HTTP message in a text file, with any line ends.
struct GivenMessage {
    /// The lines of the head without their ends, the start line first.
    var lines: [[UInt8]]
    var body: [UInt8]

    init(_ text: some Collection<UInt8>) {
        let text = Array(text)
        lines = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: ASCII.lf) ?? text.count
            var line = Array(text[start..<end])
            start = min(end + 1, text.count)
            if end < text.count, line.last == ASCII.cr { line.removeLast() }
            if line.isEmpty { break }
            lines.append(line)
        }
        body = Array(text[start...])
    }

    /// A message in HTTP/1 form, with the whole URL as its target.
    init(_ head: RequestHead, _ body: [UInt8]) {
        lines = [Array("\(head.methodText) \(head.url) HTTP/1.1".utf8)]
        lines += head.fields.lines.map { Array("\($0.name): \($0.value)".utf8) }
        self.body = body
    }

    /// Replaces HTTP/2 or HTTP/3 in a request's start line by HTTP/1.1; clients show such lines.
    /// - Returns: whether it did.
    mutating func takeVersion() -> Bool {
        guard let line = lines.first else { return false }
        for version in ["HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0"]
        where line.suffix(version.count + 1).elementsEqual(" \(version)".utf8) {
            lines[0] = line.dropLast(version.count) + Array("HTTP/1.1".utf8)
            return true
        }
        return false
    }

    var head: [UInt8] {
        var bytes: [UInt8] = []
        for line in lines + [[]] { bytes += line + [ASCII.cr, ASCII.lf] }
        return bytes
    }

    /// The bytes of the message.
    var bytes: [UInt8] { head + body }

    /// Drops blank lines after the head, which editors add, if nothing declares a body.
    mutating func dropBlankBody() {
        if body.allSatisfy({ $0 == ASCII.cr || $0 == ASCII.lf }) { body = [] }
    }

    /// The declared Content-Length.
    var length: Int? {
        for line in lines {
            guard let colon = line.firstIndex(of: ASCII.colon),
                ASCII.equal(String(decoding: line[..<colon], as: UTF8.self), "content-length")
            else { continue }
            return Int(String(decoding: line[(colon + 1)...].filter { $0 != ASCII.space }, as: UTF8.self))
        }
        return nil
    }

    /// Sets Content-Length to the actual size.
    mutating func setLength() {
        remove("content-length")
        lines.append(Array("Content-Length: \(body.count)".utf8))
    }

    /// - Parameter name: a field name in lower case.
    mutating func remove(_ name: String) {
        lines.removeAll { line in
            guard let colon = line.firstIndex(of: ASCII.colon) else { return false }
            return ASCII.equal(String(decoding: line[..<colon], as: UTF8.self), name)
        }
    }
}
