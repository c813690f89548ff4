public import Declaration
public import HTTPCodec

/// `set_path`.
public struct SetPath: RequestEdit {
    public static let name = "set_path"
    public static let doc = "Replaces the path; the query stays."
    public static let shape = Shape.text(.path)

    public let path: String

    public init(_ path: String) { self.path = path }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let path = value.text else { return nil }
        self.init(path)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard path.utf8.first == 0x2F else { throw EditFault(reason: "a path begins with a slash") }
        guard !path.utf8.contains(0x3F) else {
            throw EditFault(reason: "a path holds no question mark; use set_query for the query")
        }
        let old = head.target
        let query = old.query.map { "?\(head.fields.text($0))" } ?? ""
        try URLEdit.retarget(&head, "\(old.scheme.name)://\(head.fields.text(old.authority))\(path)\(query)")
        return .changed(["set path"])
    }
}

extension Edit where Self == SetPath {
    public static func setPath(_ path: String) -> Self { SetPath(path) }
}
