internal import Formats
internal import HTTPCodec
internal import Journal

/// The files of a recording: `recording.yaml`, one file an exchange, and large or binary bodies.
public struct RecordingFiles: Sendable {
    public struct File: Sendable {
        public var name: String
        public var bytes: [UInt8]
    }

    public static let index = "recording.yaml"
    /// Larger bodies have files of their own.
    private static let largest = 32 << 10

    public private(set) var all: [File] = []

    public init(_ recording: Recording) {
        var index: JSONValue = [
            "version": .integer(Recording.version), "name": .string(recording.name),
            "recorded": .string(CalendarTime(recording.recorded).internet), "servers": .strings(recording.origins),
        ]
        let values = recording.values.sorted {
            ($0.key.kind.rawValue, $0.key.number) < ($1.key.kind.rawValue, $1.key.number)
        }
        index["values"] = .object(values.map { .init($0.key.text, .string($0.value.rawValue)) })
        index["volatile"] = .strings(recording.volatile.sorted())
        index["exchanges"] = .strings(recording.exchanges.map(\.name))
        all = [File(name: Self.index, bytes: YAMLText.document(index))]
        for exchange in recording.exchanges { add(exchange) }
    }

    private mutating func add(_ exchange: RecordedExchange) {
        var document: JSONValue = .object([])
        document["action"] = exchange.action.map { .string($0) }
        if let tree = exchange.tree, !tree.isEmpty { document["tree"] = .string(tree) }
        document["at"] = .string(CalendarTime(exchange.at).internet)
        var request: JSONValue = ["method": .string(exchange.method), "url": .string(exchange.url)]
        add(exchange.request, "\(exchange.name).request", &request)
        document["request"] = request
        var response: JSONValue = ["status": .integer(exchange.status)]
        add(exchange.response, "\(exchange.name).response", &response)
        document["response"] = response
        all.append(File(name: "\(exchange.name).yaml", bytes: YAMLText.document(document)))
    }

    private mutating func add(_ message: RecordedMessage, _ name: String, _ out: inout JSONValue) {
        var headers: [JSONValue.Member] = []
        for field in message.fields {
            if let place = headers.firstIndex(where: { ASCII.equal($0.name, field.name) }) {
                let before = headers[place].value
                headers[place].value = .array((before.items ?? [before]) + [.string(field.value)])
            } else {
                headers.append(.init(field.name, .string(field.value)))
            }
        }
        if !headers.isEmpty { out["headers"] = .object(headers) }
        guard !message.body.isEmpty else { return }
        if message.body.count <= Self.largest {
            if message.isForm, let form = Self.form(message.body) { return out["form"] = form }
            if let json = try? JSONValue(parsing: message.body), Self.isClear(json) { return out["json"] = json }
            if let text = String(validating: message.body, as: UTF8.self), text.utf8.count <= 1000,
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            {
                return out["body"] = .string(text)
            }
        }
        let file = "\(name).\(Self.fileExtension(of: message))"
        all.append(File(name: file, bytes: message.body))
        out["file"] = .string(file)
    }

    /// The fields of a form; nil if they cannot be written as a map without loss.
    private static func form(_ body: [UInt8]) -> JSONValue? {
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        let pairs = QueryText(text).pairs.map { JSONValue.Member(QueryText.name($0), .string(QueryText.value($0))) }
        let isClear = pairs.allSatisfy { !$0.name.isEmpty } && Set(pairs.map(\.name)).count == pairs.count
        return isClear ? .object(pairs) : nil
    }

    /// True if no object has a name twice, and it is no deeper than YAML is read.
    private static func isClear(_ value: JSONValue, depth: Int = 50) -> Bool {
        guard depth > 0 else { return false }
        switch value {
        case .object(let members):
            return Set(members.map(\.name)).count == members.count
                && members.allSatisfy { isClear($0.value, depth: depth - 1) }
        case .array(let items): return items.allSatisfy { isClear($0, depth: depth - 1) }
        default: return true
        }
    }

    private static func fileExtension(of message: RecordedMessage) -> String {
        let type = ASCII.lowercased(message.value("Content-Type") ?? "")
        let known = ["json", "html", "xml", "javascript", "css", "png", "jpeg", "svg", "plain", "form"]
        let names = ["javascript": "js", "plain": "txt", "form": "txt", "jpeg": "jpg"]
        return known.first { type.contains($0) }.map { names[$0] ?? $0 } ?? "bin"
    }
}
