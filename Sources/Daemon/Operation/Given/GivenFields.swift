import Formats
import HTTPCodec

/// The fields of an HTTP/2 request with its pseudo-header fields (RFC 9113 §8.3.1), as browsers and tools show them.
struct GivenFields {
    private struct Field {
        var name: [UInt8]
        var value: [UInt8]
        /// The line in the text, starting at 1; nil if the field was not pasted.
        var line: Int?

        var words: String {
            let text = "\(String(decoding: name, as: UTF8.self)): \(String(decoding: value, as: UTF8.self))"
            return line.map { "line \($0), \(text)" } ?? text
        }
    }

    private var fields: [Field] = []
    private(set) var body: [UInt8] = []

    // MARK: pasted text

    /// - Parameter text: fields line by line, `:method: GET`; or name and value on separate lines, `:method`, `GET`; or the
    ///   output of curl -v or nghttp -v, of which the first request counts.
    /// - Returns: nil if the text has none of these forms.
    /// - Throws: `Explanation.Fault` if a line is no field.
    init?(pasted text: [UInt8]) throws(Explanation.Fault) {
        switch text.first {
        case ASCII.colon: try takeLines(GivenMessage(text))
        case UInt8(ascii: "*"), UInt8(ascii: "["): try takeTranscript(text)
        default: return nil
        }
        if fields.isEmpty { return nil }
    }

    private mutating func takeLines(_ message: GivenMessage) throws(Explanation.Fault) {
        body = message.body
        let lines = message.lines.map(Self.trimmed)
        let first = lines[0].dropFirst()
        let isInPairs = first.firstIndex(of: ASCII.colon).map { $0 == first.endIndex - 1 } ?? true
        guard isInPairs else {
            for (index, line) in lines.enumerated() { try parse(line, index + 1) }
            return
        }
        for index in stride(from: 0, to: lines.count, by: 2) {
            let name = lines[index].last == ASCII.colon ? lines[index].dropLast() : lines[index]
            guard index + 1 < lines.count else { throw Self.noField(name, index + 1) }
            fields.append(Field(name: Array(name), value: Array(lines[index + 1]), line: index + 1))
        }
    }

    private mutating func parse(_ line: ArraySlice<UInt8>, _ number: Int) throws(Explanation.Fault) {
        guard let colon = line.dropFirst().firstIndex(of: ASCII.colon) else { throw Self.noField(line, number) }
        let value = Self.trimmed(Array(line[(colon + 1)...]))
        fields.append(Field(name: Array(line[..<colon]), value: Array(value), line: number))
    }

    private static func noField(_ line: some Collection<UInt8>, _ number: Int) -> Explanation.Fault {
        Explanation.Fault(
            description:
                "line \(number) is not a field (name, colon, value): \(String(decoding: line, as: UTF8.self))")
    }

    /// Reads curl's `* [HTTP/2] [1] [:method: GET]` and `* h2h3 [:method: GET]`, and nghttp's indented lines after `send HEADERS
    /// frame`.
    private mutating func takeTranscript(_ text: [UInt8]) throws(Explanation.Fault) {
        var isInFrame = false
        var stream: Substring?
        for (index, line) in text.split(separator: ASCII.lf, omittingEmptySubsequences: false).enumerated() {
            let words = String(decoding: Self.trimmed(Array(line)), as: UTF8.self)
            if let field = Self.ofCurl(words) {
                // another stream is another request
                if let stream, stream != field.stream { return }
                stream = field.stream
                try parse(Array(field.text.utf8)[...], index + 1)
            } else if words.contains("send HEADERS frame") {
                if !fields.isEmpty { return }
                isInFrame = true
            } else if isInFrame, line.first == ASCII.space, !words.hasPrefix(";"), !words.hasPrefix("(") {
                try parse(Array(words.utf8)[...], index + 1)
            } else if isInFrame, line.first != ASCII.space {
                isInFrame = false
            }
        }
    }

    private static func ofCurl(_ line: String) -> (stream: Substring, text: Substring)? {
        var rest = line.hasPrefix("* ") ? line.dropFirst(2) : line[...]
        let stream: Substring
        if rest.hasPrefix("[HTTP/2] [") {
            rest = rest.dropFirst("[HTTP/2] [".count)
            stream = rest.prefix { $0.isNumber }
            rest = rest.dropFirst(stream.count)
            guard rest.hasPrefix("] [") else { return nil }
            rest = rest.dropFirst("] [".count)
        } else if let mark = ["h2h3 [", "h2 ["].first(where: rest.hasPrefix) {
            stream = ""
            rest = rest.dropFirst(mark.count)
        } else {
            return nil
        }
        return rest.hasSuffix("]") ? (stream, rest.dropLast()) : nil
    }

    private static func trimmed(_ line: [UInt8]) -> ArraySlice<UInt8> {
        var line = line[...]
        while let first = line.first, first <= ASCII.space { line.removeFirst() }
        while let last = line.last, last <= ASCII.space { line.removeLast() }
        return line
    }

    // MARK: conversion

    /// The HTTP/2 fields of a request in HTTP/1 form. Fields about the connection are dropped.
    init(of head: RequestHead, body: [UInt8]) {
        self.body = body
        let isTunnel = head.target.form == .authority
        add(":method", head.methodText)
        if !isTunnel { add(":scheme", head.target.scheme.name) }
        add(":authority", head.fields["Host"] ?? head.fields.text(head.target.authority))
        let query = head.query.map { "?\($0)" } ?? ""
        if !isTunnel { add(":path", head.target.form == .asterisk ? "*" : head.path + query) }
        let named = head.fields.values(named: "Connection").flatMap { $0.split(separator: ",") }
            .map { ASCII.lowercased($0.drop { $0 == " " }) }
        for (name, value) in head.fields.lines {
            let name = ASCII.lowercased(name)
            let isOfConnection = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]
                .contains(name)
            if isOfConnection || name == "host" || named.contains(name) { continue }
            if name == "te", value != "trailers" { continue }
            add(name, value)
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: Array(name.utf8), value: Array(value.utf8)))
    }

    // MARK: head

    /// The head that Usher would read.
    /// - Throws: `Explanation.Fault` with the violated rule and the line.
    func head() throws(Explanation.Fault) -> RequestHead {
        let size = fields.reduce(0) { $0 + $1.name.count + $1.value.count + 4 }
        // size limits apply when the request is run
        let limits = HeadLimits(bytes: size, fields: fields.count + 1, target: size)
        var block = FieldBlock()
        block.begin()
        for field in fields {
            block.add(field.name.span, field.value.span, limits: limits)
            if let fault = block.fault { throw Self.fault("\(field.words): \(fault.explanation)") }
        }
        var head = RequestHead()
        do throws(HTTPFault) {
            try block.take(request: &head, limits: limits)
        } catch {
            throw Self.fault(words(of: error))
        }
        return head
    }

    private static func fault(_ words: String) -> Explanation.Fault {
        Explanation.Fault(description: "not an HTTP/2 request: \(words)")
    }

    private func words(of fault: HTTPFault) -> String {
        let name: String
        switch fault.code {
        case .missingPseudoField, .missingHost:
            let isTunnel = fields.contains {
                $0.name.elementsEqual(":method".utf8) && $0.value.elementsEqual("CONNECT".utf8)
            }
            let needed = [":method"] + (isTunnel && !has(":protocol") ? [] : [":scheme", ":path"]) + [":authority"]
            let missing = needed.filter { !has($0) }.joined(separator: ", ")
            return "without \(missing): \(fault.explanation)"
        case .badMethod: name = ":method"
        case .unsupportedScheme: name = ":scheme"
        case .badTarget, .targetTooLong: name = ":path"
        case .badAuthority, .userInfoInTarget, .percentInHost, .nonASCIIHost, .emptyLabel, .hostTooLong, .badAddress:
            name = ":authority"
        case .hostMismatch, .badHost, .repeatedHost: name = "host"
        default: return fault.explanation
        }
        guard let field = fields.last(where: { $0.name.elementsEqual(name.utf8) }) else { return fault.explanation }
        let isFragment = name == ":path" && field.value.contains(UInt8(ascii: "#"))
        let remedy = isFragment ? " (remove the fragment, from # on, which clients do not send)" : ""
        return "\(field.words): \(fault.explanation)\(remedy)"
    }

    private func has(_ name: String) -> Bool { fields.contains { $0.name.elementsEqual(name.utf8) } }
}
