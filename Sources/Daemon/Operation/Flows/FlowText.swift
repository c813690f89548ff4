public import Formats
import Journal

/// A flow for other programs: its messages, or a curl command that repeats the request.
public struct FlowText {
    private let request: StoredMessage?
    let response: StoredMessage?
    /// The response as received, if it was delivered otherwise.
    let answer: StoredMessage?
    let flow: FlowRecord

    /// The reason why there is no command.
    public struct Fault: Error {
        public let description: String
    }

    /// - Parameter flow: the complete flow from the daemon.
    public init(_ flow: JSONValue) {
        request = StoredMessage(flow["request"])
        response = StoredMessage(flow["response"])
        answer = StoredMessage(flow["answer"])
        self.flow = FlowRecord(flow["flow"] ?? .null)
    }

    /// Both messages, separated by an empty line.
    /// - Parameter isShown: true to remove control characters for a terminal.
    public func http(isShown: Bool) -> [UInt8] {
        let messages = [request, response].compactMap { $0 }
        guard isShown else { return Array(messages.map(\.http).joined(separator: Array("\r\n\r\n".utf8))) }
        let texts = messages.map { message in
            let body = message.isText ? String(decoding: message.body, as: UTF8.self) : message.bodyLines.joined()
            let head = [message.startLine] + message.fields.map { "\($0.name): \($0.value)" }
            let lines = head.map(TerminalText.plain).joined(separator: "\n") + "\n"
            return lines + (body.isEmpty ? "" : "\n\(TerminalText.lines(body.replacing("\r\n", with: "\n")))\n")
        }
        return Array(texts.joined(separator: "\n").utf8)
    }

    // MARK: curl

    /// A curl command for the client's request, with comments about missing parts.
    public func curl() throws(Fault) -> String {
        let request = try opened()
        let command = CurlText(
            method: request.method, url: request.url, fields: request.fields, body: request.body,
            isText: request.isText
        ).lines
        return notes(request).map { "# \($0)\n" }.joined() + command + "\n"
    }

    /// The request, unless it is a tunnel.
    func opened() throws(Fault) -> StoredMessage {
        guard let request, request.url.contains("://") else {
            throw Fault(description: "it is a tunnel, which cannot be repeated")
        }
        return request
    }

    func notes(_ request: StoredMessage) -> [String] {
        var notes: [String] = []
        if let seen = PastedText.remark(
            action: flow.text("action"), tree: flow.text("tree"), type: flow.text("type"))
        {
            notes.append(seen)
        }
        let missing = Self.secrets(request)
        if !missing.isEmpty { notes.append("to be filled in: \(missing.joined(separator: ", "))") }
        if request.isCut { notes.append("the body is incomplete: it had \(request.bytes) bytes") }
        if request.has("content-encoding") { notes.append("the body is sent without a content coding") }
        return notes
    }

    private static func secrets(_ request: StoredMessage) -> [String] {
        var words: [String] = []
        func add(_ text: some Collection<UInt8>, _ name: String) {
            for found in AliasList.of(text) {
                let place = found.name.isEmpty ? name : found.name
                let word = TerminalText.plain("\(found.alias) (\(place))")
                if !words.contains(word) { words.append(word) }
            }
        }
        add(request.url.utf8, "the URL")
        for field in request.fields { add(field.value.utf8, field.name) }
        if request.isText { add(request.body, "the body") }
        return words
    }
}
