public import Formats
internal import HTTPCodec

/// A flow as an entry of HTTP Archive 1.2: the request as the client sent it, the response as delivered. Members that start with
/// an underscore are extensions.
public struct HAREntry {
    private let flow: PackedFlow

    /// - Returns: nil for a tunnel, whose content is unknown.
    public init?(_ flow: PackedFlow) {
        guard flow[.scheme] != 0 else { return nil }
        self.flow = flow
    }

    public var value: JSONValue {
        let time = FlowTime(flow)
        let timings = Self.timings(time)
        // the TLS time is included in the connect time
        let total = timings.reduce(0) { $1.name == "ssl" ? $0 : $0 + max(0, $1.value) }
        var members: [JSONValue.Member] = [
            .init("startedDateTime", .string(time.text)), .init("time", .integer(total)),
            .init("request", request), .init("response", response), .init("cache", .object([])),
            .init("timings", .object(timings.map { .init($0.name, .integer($0.value)) })),
            .init("_flow", .string(FlowID(flow.id).description)),
        ]
        for (name, part) in Self.facts {
            if let text = flow.text(part) { members.append(.init(name, .string(text))) }
        }
        if flow.flags.contains(.attempt) { members.append(.init("_attempt", .bool(true))) }
        if flow[.parent] != 0 {
            members.append(.init("_parent", .string(FlowID(UInt64(bitPattern: Int64(flow[.parent]))).description)))
        }
        return .object(members)
    }

    /// What Usher knows of a request besides its messages.
    public static let facts: [(name: String, part: FlowPart)] = [
        ("_user", .user), ("_action", .action), ("_realm", .realm), ("_tree", .tree), ("_type", .type),
    ]

    /// The document before the entries. `]}}` ends it.
    public static func beginning(version: String) -> String {
        let creator = JSONValue.object([.init("name", .string("Usher")), .init("version", .string(version))])
        return #"{"log":{"version":"1.2","creator":"# + creator.serialized + #","entries":["#
    }

    // MARK: messages

    private var request: JSONValue {
        guard let message = FlowMessage(flow, .request) else { return .object([]) }
        let fields = message.fields.list
        var members: [JSONValue.Member] = [
            .init("method", .string(message.method)), .init("url", .string(message.url)),
            .init("httpVersion", .string(message.version)), .init("cookies", Self.cookies(fields)),
            .init("headers", Self.pairs(fields)), .init("queryString", query),
            .init("headersSize", .integer(-1)), .init("bodySize", .integer(message.bodyBytes)),
        ]
        if !message.body.isEmpty || message.isUnread {
            members.append(.init("postData", Self.posted(message, fields)))
        }
        return .object(members)
    }

    private static func comment(_ message: FlowMessage) -> JSONValue.Member? {
        if message.isUnread { return .init("comment", .string(FlowMessage.unread)) }
        return message.isCut ? .init("comment", .string("the beginning of a body that was longer")) : nil
    }

    private static func posted(_ message: FlowMessage, _ fields: [(name: String, value: String)]) -> JSONValue {
        let type = JSONValue.Member("mimeType", .string(value("content-type", fields) ?? ""))
        guard let text = message.text else {
            let bytes = JSONValue.Member("text", .string(Base64.encode(message.body)))
            return .object([type, bytes, .init("_encoding", .string("base64"))])
        }
        return .object([type, .init("text", .string(text))] + [comment(message)].compactMap { $0 })
    }

    private var response: JSONValue {
        // readers require a response even if the client got none
        guard let message = FlowMessage(flow, .response) else {
            return .object([
                .init("status", .integer(0)), .init("statusText", .string("")),
                .init("httpVersion", .string("")), .init("cookies", .array([])), .init("headers", .array([])),
                .init("content", .object([.init("size", .integer(0)), .init("mimeType", .string("x-unknown"))])),
                .init("redirectURL", .string("")), .init("headersSize", .integer(-1)),
                .init("bodySize", .integer(-1)), .init("_error", .string(flow.text(.proxyError) ?? "")),
            ])
        }
        let fields = message.fields.list
        return .object([
            .init("status", .integer(message.status)),
            .init("statusText", .string(ReasonPhrase.of(message.status))),
            .init("httpVersion", .string(message.version)), .init("cookies", Self.setCookies(fields)),
            .init("headers", Self.pairs(fields)), .init("content", Self.content(message, fields)),
            .init("redirectURL", .string(Self.value("location", fields) ?? "")),
            .init("headersSize", .integer(-1)), .init("bodySize", .integer(message.bodyBytes)),
        ])
    }

    private static func content(_ message: FlowMessage, _ fields: [(name: String, value: String)]) -> JSONValue {
        // the size includes bytes that are not stored
        let size = message.isCut ? max(message.bodyBytes, message.body.count) : message.body.count
        var members: [JSONValue.Member] = [
            .init("size", .integer(size)),
            .init("mimeType", .string(value("content-type", fields) ?? "x-unknown")),
        ]
        if let text = message.text {
            if !text.isEmpty { members.append(.init("text", .string(text))) }
        } else {
            members.append(.init("text", .string(Base64.encode(message.body))))
            members.append(.init("encoding", .string("base64")))
        }
        if let comment = Self.comment(message) { members.append(comment) }
        return .object(members)
    }

    private static func pairs(_ pairs: [(name: String, value: String)]) -> JSONValue {
        .array(pairs.map { .object([.init("name", .string($0.name)), .init("value", .string($0.value))]) })
    }

    private static func value(_ name: String, _ fields: [(name: String, value: String)]) -> String? {
        fields.first { ASCII.equal($0.name, name) }?.value
    }

    // MARK: queries and cookies

    private var query: JSONValue {
        let target = flow.text(.target) ?? ""
        guard let mark = target.utf8.firstIndex(of: 0x3F) else { return .array([]) }
        let pairs = QueryText(target[target.utf8.index(after: mark)...]).pairs.filter { !$0.isEmpty }
        return Self.pairs(pairs.map { (QueryText.name($0), QueryText.value($0)) })
    }

    private static func cookies(_ fields: [(name: String, value: String)]) -> JSONValue {
        let lines = fields.filter { ASCII.equal($0.name, "cookie") }.map(\.value)
        return pairs(lines.flatMap { $0.utf8.split(separator: 0x3B).map { cookie(Substring($0)) } })
    }

    private static func cookie(_ text: Substring) -> (name: String, value: String) {
        let trimmed = text.drop { $0 == " " }
        guard let equals = trimmed.utf8.firstIndex(of: 0x3D) else { return (String(trimmed), "") }
        return (String(trimmed[..<equals]), String(trimmed[trimmed.utf8.index(after: equals)...]))
    }

    private static func setCookies(_ fields: [(name: String, value: String)]) -> JSONValue {
        .array(
            fields.filter { ASCII.equal($0.name, "set-cookie") }.map { field in
                let parts = field.value.utf8.split(separator: 0x3B).map { Substring($0) }
                let own = cookie(parts.first ?? "")
                var members: [JSONValue.Member] = [
                    .init("name", .string(own.name)), .init("value", .string(own.value)),
                ]
                for part in parts.dropFirst().map(cookie) {
                    switch ASCII.lowercased(part.name) {
                    case "path": members.append(.init("path", .string(part.value)))
                    case "domain": members.append(.init("domain", .string(part.value)))
                    case "httponly": members.append(.init("httpOnly", .bool(true)))
                    case "secure": members.append(.init("secure", .bool(true)))
                    default: break
                    }
                }
                return .object(members)
            })
    }

    /// The timings; -1 means unknown. HAR requires send, wait and receive.
    private static func timings(_ time: FlowTime) -> [(name: String, value: Int)] {
        let isKnown = time.answering != nil
        let isDialed = time.connecting != nil || time.securing != nil
        return [
            ("blocked", time.waited ?? -1), ("dns", time.resolving ?? -1),
            ("connect", isDialed ? (time.connecting ?? 0) + (time.securing ?? 0) : -1), ("ssl", time.securing ?? -1),
            ("send", 0), ("wait", isKnown ? time.answering ?? 0 : time.duration), ("receive", time.receiving ?? 0),
        ]
    }
}
