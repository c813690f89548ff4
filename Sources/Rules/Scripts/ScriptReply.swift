internal import Formats
public import Interceptors

/// What a script made of a message.
public enum ScriptAnswer: Sendable {
    case unchanged
    case request(Request)
    case response(Response)
    case verdict(Verdict)
    /// The script or its worker failed: words that follow the script's name.
    case failed(String)
}

/// An answer of a script, not yet compared with its question.
public struct ScriptReply: Sendable {
    public let id: Int
    private let fields: ScriptFields

    static let members = ["id", "state"] + outcomes
    private static let outcomes = ["request", "response", "respond", "abort", "retry", "error"]
    /// The most lines of headers, and their most bytes.
    static let mostLines = 512
    static let mostHeaderBytes = 256 << 10

    /// - Parameter text: the JSON text of a frame.
    public init(_ text: ArraySlice<UInt8>) throws(FrameFault) {
        fields = try ScriptFields(text, "an answer")
        guard let id = try fields.integer("id") else { throw FrameFault(words: "an answer has no id") }
        self.id = id
    }

    /// Reads the file that has the body of the answer.
    public typealias File = () throws(FrameFault) -> [UInt8]

    /// The answer to this question. A fault in it is this exchange's alone.
    public func answer(to question: ScriptQuestion, _ file: File) -> ScriptAnswer {
        do throws(FrameFault) {
            return try read(question, file)
        } catch {
            return .failed("answered wrongly: \(error.words)")
        }
    }

    private func read(_ question: ScriptQuestion, _ file: File) throws(FrameFault) -> ScriptAnswer {
        try fields.accept(Self.members)
        let outcomes = Self.outcomes.filter { fields[$0] != nil }
        guard outcomes.count <= 1 else {
            throw FrameFault(words: "an answer has \(outcomes.joined(separator: " and ")); it has one of them")
        }
        if let words = try fields.text("error") { return .failed("failed: \(Self.line(words))") }
        if let reason = try fields.text("abort") { return .verdict(.abort(Self.line(reason))) }
        if let given = try fields.object("respond") {
            return .verdict(.respond(try response(given, Response(), file)))
        }
        let state = try fields.texts("state")
        switch question.message {
        case .request(let request):
            guard fields["response"] == nil, fields["retry"] == nil else {
                throw FrameFault(words: "response and retry are for the response phase; respond gives a response here")
            }
            guard fields["request"] != nil || state != nil else { return .unchanged }
            var new = request
            if let given = try fields.object("request") { new = try self.request(given, request, file) }
            new.state = state ?? request.state
            return .request(new)
        case .response(let response, let request):
            if let retry = try fields.object("retry") {
                try retry.accept(["request", "after"])
                let wait = try retry.integer("after") ?? 0
                guard (0...3_600_000).contains(wait) else {
                    throw FrameFault(words: "after of retry is a number of milliseconds up to an hour")
                }
                var again = try retry.object("request").map { given throws(FrameFault) in
                    try self.request(given, request, file)
                }
                if let state {
                    again = again ?? request
                    again?.state = state
                }
                return .verdict(.retry(again, after: .milliseconds(wait)))
            }
            guard fields["request"] == nil else {
                throw FrameFault(words: "the request has gone out; retry sends another")
            }
            guard fields["response"] != nil || state != nil else { return .unchanged }
            var new = response
            if let given = try fields.object("response") { new = try self.response(given, response, file) }
            new.state = state ?? response.state
            return .response(new)
        }
    }

    private func request(_ fields: ScriptFields, _ old: Request, _ file: File) throws(FrameFault) -> Request {
        try fields.accept(["method", "url", "headers", "body", "file"])
        var new = old
        if let method = try fields.text("method") { new.method = method }
        if let url = try fields.text("url") { new.url = url }
        if let headers = try Self.headers(fields) { new.headers = headers }
        if let body = try body(fields, file) { new.body = body }
        return new
    }

    private func response(_ fields: ScriptFields, _ old: Response, _ file: File) throws(FrameFault) -> Response {
        try fields.accept(["status", "headers", "body", "file"])
        var new = old
        if let status = try fields.integer("status") { new.status = status }
        if let headers = try Self.headers(fields) { new.headers = headers }
        if let body = try body(fields, file) { new.body = body }
        return new
    }

    private func body(_ fields: ScriptFields, _ file: File) throws(FrameFault) -> [UInt8]? {
        guard let name = try fields.text("file") else { return try fields.bytes("body") }
        guard fields["body"] == nil else { throw FrameFault(words: "a message has a body or a file") }
        guard name == "\(id)" else { throw FrameFault(words: "the file of the answer \(id) is named \(id)") }
        return try file()
    }

    private static func headers(_ fields: ScriptFields) throws(FrameFault) -> Headers? {
        guard let items = try fields.list("headers") else { return nil }
        guard items.count <= mostLines else { throw FrameFault(words: "headers has more than \(mostLines) lines") }
        var headers = Headers()
        var bytes = 0
        for item in items {
            guard let pair = item.items, pair.count == 2, let name = pair[0].text, let value = pair[1].text else {
                throw FrameFault(words: "headers is a list of [name, value]")
            }
            bytes += name.utf8.count + value.utf8.count
            guard bytes <= mostHeaderBytes else {
                throw FrameFault(words: "headers is larger than \(mostHeaderBytes) bytes")
            }
            headers.add(name, value)
        }
        return headers
    }

    /// The text in one line of the log, as it is read.
    static func line(_ text: String) -> String {
        text.unicodeScalars.prefix(200).map { $0.steers ? " " : String($0) }.joined()
    }
}
