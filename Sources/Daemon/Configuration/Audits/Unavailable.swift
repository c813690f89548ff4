internal import Declaration
internal import Formats

/// Keys that the format defines and this build does not implement. A value equal to the present behaviour, such as the default,
/// is accepted; any other value is refused. Remove a row when its key is implemented.
enum Unavailable {
    struct Row: Sendable {
        var object: ObjectShape
        var key: String
        /// The purpose of the key: "… is not available in this version".
        var what: String
        var remedy: String
        /// The accepted values as JSON.
        var accepted: [JSONValue]

        init(
            _ object: ObjectShape, _ key: String, _ what: String, _ remedy: String = "remove the key",
            accepted: [JSONValue] = []
        ) {
            self.object = object
            self.key = key
            self.what = what
            self.remedy = remedy
            self.accepted = accepted
        }

        func accepts(_ value: JSONValue) -> Bool { accepted.contains(value) }
    }

    static func row(_ object: ObjectShape, _ key: String) -> Row? {
        rows.first { $0.object == object && $0.key == key }
    }

    static func keys(of object: ObjectShape) -> [String] { rows.filter { $0.object == object }.map(\.key) }

    static let rows: [Row] = [
        Row(
            KeyTable.authorization, "on_failure", "a response to a failed step-up other than the original one",
            "write on_failure: original, or remove the key", accepted: [.string("original")])
    ]
}
