public import Formats

/// A test session as the admin API shows it.
public struct TestSessionView: Sendable {
    public struct Rule: Sendable {
        public var name: String
        /// The interceptor as it was written; null for one of the overlay.
        public var written: JSONValue

        public init(name: String, written: JSONValue = .null) {
            self.name = name
            self.written = written
        }

        public var json: JSONValue { ["name": .string(name), "rule": written] }
    }

    public var id: String
    public var name: String?
    /// In seconds since 1970.
    public var began: Int
    public var ends: Int
    /// The address of the port of its own.
    public var port: String?
    /// The name of the test user that it has borrowed.
    public var robot: String?
    /// Its own interceptors, those that run first first.
    public var rules: [Rule] = []
    /// Findings about the overlay that do not keep it from working.
    public var warnings: [ConfigurationRemark] = []

    public init(id: String, name: String?, began: Int, ends: Int, port: String?) {
        (self.id, self.name, self.began, self.ends, self.port) = (id, name, began, ends, port)
    }

    static let shape = ControlShape.object(members)
    static let openedShape = ControlShape.either([
        .object([
            "id": .text, "name": .optional(.text), "began": .text, "ends": .text, "port": .optional(.text),
            "rules": .list(ruleShape), "warnings": .list(ConfigurationRemark.shape), "robot": .optional(.text),
            "password?": .described("The robot's password.", .text),
            "proxy": .described("The URL for HTTP_PROXY, with the session's key.", .text),
            "header": .described(
                "The field that names the session in requests without proxy credentials.",
                .object(["name": .text, "value": .text])),
        ])
    ])
    private static let members: KeyValuePairs<String, ControlShape> = [
        "id": .text, "name": .optional(.text), "began": .text, "ends": .text,
        "port": .described("The URL of its own port.", .optional(.text)), "rules": .list(ruleShape),
        "warnings": .list(ConfigurationRemark.shape),
        "robot": .described("The test user that it has borrowed.", .optional(.text)),
    ]
    static let ruleShape = ControlShape.object([
        "name": .text, "rule": .described("As it was added; null for one of the overlay.", .optional(.map(.any))),
    ])

    public var json: JSONValue {
        [
            "id": .string(id), "name": .optional(name), "began": .string(CalendarTime(began).internet),
            "ends": .string(CalendarTime(ends).internet), "port": .optional(port), "rules": rulesJSON,
            "warnings": .array(warnings.map(\.json)), "robot": .optional(robot),
        ]
    }

    var rulesJSON: JSONValue { .array(rules.map(\.json)) }
}
