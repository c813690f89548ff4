internal import Formats

/// What a client asks for a new test session.
public struct TestSessionWish: Sendable {
    /// Nil for a session that only its id names.
    public var name: String?
    /// The session's longest life in milliseconds.
    public var life = Self.usualLife
    /// The overlay as YAML or JSON; nil for none.
    public var overlay: String?
    /// The overlay's name in messages.
    public var file = "overlay"
    /// The values of `${env.NAME}` in the overlay and in rules.
    public var variables: [String: String] = [:]
    /// True for a robot, a test user of its own.
    public var hasRobot = false
    /// True for a port of its own.
    public var hasPort = false

    public static let usualLife = 3_600_000
    static let longestLife = 86_400_000

    static let shape = ControlShape.object([
        "name?": .described("A name that no other open session has.", .pattern(ControlName.pattern)),
        "ttl?": .described(
            "The session ends after this time, as in 10m. At most 24h; 1h without the member.",
            .pattern("^[1-9][0-9]{0,4}(s|m|h)$")),
        "overlay?": .described("The overlay: YAML as text, or an object.", .either([.text, .map(.any)])),
        "file?": .described("The overlay's name in messages.", .text),
        "variables?": .described("The values of ${env.NAME} in the overlay.", .map(.text)),
        "robot?": .described("true: borrow a test user of the configuration's robots.", .flag),
        "port?": .described("true: a port of its own, for clients that can send no credentials.", .flag),
    ])

    public init() {}

    init(_ body: JSONValue) throws(ControlProblem) {
        try ControlProblem.refuseUnknown(
            body, ["name", "ttl", "overlay", "file", "variables", "port", "robot"], of: "a test session")
        if let name = body["name"] {
            // "s-" begins ids
            guard let text = name.text, ControlName.accepts(text), !text.hasPrefix("s-") else {
                throw ControlProblem(422, "name takes up to 64 letters, digits, dots, dashes and underscores")
            }
            self.name = text
        }
        if let ttl = body["ttl"] {
            guard case .value(let time)? = ttl.text.map({ Units.read($0, Units.times) }),
                (1...Self.longestLife).contains(time)
            else { throw ControlProblem(422, "ttl takes a duration up to 24h, as in 10m") }
            life = time
        }
        switch body["overlay"] {
        case nil: break
        case .string(let text)?: overlay = text
        case .object(let members)?: overlay = JSONValue.object(members).written
        default: throw ControlProblem(422, "overlay takes YAML as text, or an object")
        }
        if let file = body["file"] {
            guard let text = file.text else { throw ControlProblem(422, "file takes a text") }
            self.file = String(text.prefix(256))
        }
        if let variables = body["variables"] {
            guard let members = variables.members, members.allSatisfy({ $0.value.text != nil }) else {
                throw ControlProblem(422, "variables takes names with texts")
            }
            for member in members { self.variables[member.name] = member.value.text }
        }
        hasPort = try Self.flag("port", body)
        hasRobot = try Self.flag("robot", body)
    }

    private static func flag(_ name: String, _ body: JSONValue) throws(ControlProblem) -> Bool {
        switch body[name] {
        case nil: return false
        case .bool(let isWanted)?: return isWanted
        default: throw ControlProblem(422, "\(name) takes true or false")
        }
    }
}

extension ControlProblem {
    /// Refuses a body with a member that nobody reads.
    static func refuseUnknown(_ body: JSONValue, _ names: [String], of what: String) throws(ControlProblem) {
        guard let odd = body.members?.first(where: { !names.contains($0.name) }) else { return }
        throw ControlProblem(
            422, "unknown member \(odd.name.prefix(40)) of \(what); valid members: \(names.joined(separator: ", "))")
    }
}
