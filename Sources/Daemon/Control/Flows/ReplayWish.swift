internal import Formats
public import Journal

/// What a client asks of a replay.
public struct ReplayWish: Sendable {
    /// True to send single-use secrets as well.
    public var isForced = false
    public var edits = ReplayEdits()

    static let shape = ControlShape.object([
        "force?": .described("true: also send a request that has a value for one use.", .flag),
        "edits?": .described(
            "Changes to the recorded request. Its aliases stand for its secrets.",
            .object([
                "method?": .text, "url?": .text,
                "headers?": .described("All headers, each a name and a value.", .list(.list(.text))), "body?": .text,
            ])),
    ])

    public init() {}

    init(_ body: JSONValue) throws(ControlProblem) {
        try ControlProblem.refuseUnknown(body, ["force", "edits"], of: "a replay")
        switch body["force"] {
        case nil: break
        case .bool(let isWanted)?: isForced = isWanted
        default: throw ControlProblem(422, "force takes true or false")
        }
        guard let edits = body["edits"] else { return }
        guard edits.members != nil else { throw ControlProblem(422, "edits takes an object") }
        try ControlProblem.refuseUnknown(edits, ["method", "url", "headers", "body"], of: "edits")
        self.edits.method = try Self.text("method", edits)
        self.edits.url = try Self.text("url", edits)
        self.edits.body = try Self.text("body", edits)
        guard let headers = edits["headers"] else { return }
        self.edits.fields = try (headers.items ?? [.null]).map(Self.field)
    }

    private static func text(_ name: String, _ edits: JSONValue) throws(ControlProblem) -> String? {
        guard let value = edits[name] else { return nil }
        guard let text = value.text else { throw ControlProblem(422, "\(name) takes a text") }
        return text
    }

    private static func field(_ value: JSONValue) throws(ControlProblem) -> (name: String, value: String) {
        guard let items = value.items, items.count == 2, let name = items[0].text, let value = items[1].text else {
            throw ControlProblem(422, "headers takes a list of headers, each a list of a name and a value")
        }
        return (name, value)
    }
}
