internal import Declaration
internal import Formats
internal import HTTPCodec

/// The source of a variable's value.
enum TemplateSource: Hashable, Sendable {
    case uuid, now, action, tree, realm
    case requestHeader(String)
    case requestQuery(String)
    case requestJSON(JSONPointer)
    case responseStatus
    case responseHeader(String)
    case responseJSON(JSONPointer)
    case state(String)

    /// The reason why the text between `${` and `}` is invalid.
    enum Fault: Error, Equatable {
        case unknown
        /// Completes "… takes".
        case unnamed(kind: String, takes: String)
    }

    private static let plain: [(name: String, source: TemplateSource)] = [
        ("uuid", .uuid), ("now", .now), ("action", .action), ("tree", .tree), ("realm", .realm),
        ("response.status", .responseStatus),
    ]

    private static let named: [(kind: String, example: String, takes: String, make: @Sendable (String) -> Self?)] = [
        (
            "request.header", "NAME", "the name of a header",
            { FieldSyntax.isName($0) ? .requestHeader($0) : nil }
        ),
        ("request.query", "NAME", "the name of a parameter", { $0.isEmpty ? nil : .requestQuery($0) }),
        ("request.json", "/POINTER", "a JSON pointer such as /user/id", { pointer($0).map { .requestJSON($0) } }),
        (
            "response.header", "NAME", "the name of a header",
            { FieldSyntax.isName($0) ? .responseHeader($0) : nil }
        ),
        ("response.json", "/POINTER", "a JSON pointer such as /user/id", { pointer($0).map { .responseJSON($0) } }),
        ("state", "NAME", SetState.names.expected, { SetState.names.accepts($0) ? .state($0) : nil }),
    ]

    private static func pointer(_ text: String) -> JSONPointer? {
        JSONPointer(text).flatMap { $0.isWhole ? nil : $0 }
    }

    /// All sources without their names, with an example of each.
    static let rows =
        plain.map { (kind: $0.name, example: "${\($0.name)}") }
        + named.map { (kind: $0.kind, example: "${\($0.kind).\($0.example)}") }

    /// - Parameter text: the text between `${` and `}`.
    init(_ text: String) throws(Fault) {
        if let found = Self.plain.first(where: { $0.name == text }) {
            self = found.source
            return
        }
        guard let row = Self.named.first(where: { text == $0.kind || text.hasPrefix("\($0.kind).") }) else {
            throw .unknown
        }
        guard let source = row.make(String(text.dropFirst(row.kind.utf8.count + 1))) else {
            throw .unnamed(kind: row.kind, takes: row.takes)
        }
        self = source
    }

    /// The text between `${` and `}`.
    var name: String {
        switch self {
        case .uuid: "uuid"
        case .now: "now"
        case .action: "action"
        case .tree: "tree"
        case .realm: "realm"
        case .requestHeader(let name): "request.header.\(name)"
        case .requestQuery(let name): "request.query.\(name)"
        case .requestJSON(let pointer): "request.json.\(pointer)"
        case .responseStatus: "response.status"
        case .responseHeader(let name): "response.header.\(name)"
        case .responseJSON(let pointer): "response.json.\(pointer)"
        case .state(let name): "state.\(name)"
        }
    }

    /// The origin of the value; nil for state and for values that reveal nothing about a person.
    var origin: ValueOrigin? {
        switch self {
        case .tree, .realm: .name
        case .requestHeader(let name), .responseHeader(let name): .header(name)
        case .requestQuery(let name): .query(name)
        case .requestJSON(let pointer), .responseJSON(let pointer): .member(pointer)
        case .uuid, .now, .action, .responseStatus, .state: nil
        }
    }

    var needsResponse: Bool {
        switch self {
        case .responseStatus, .responseHeader, .responseJSON: true
        default: false
        }
    }
}
