public import Declaration
internal import Formats

/// `basic_auth` (RFC 7617).
public struct BasicAuthentication: BuiltIn {
    public static let name = "basic_auth"
    public static let doc = "Sends a user name and a password in Authorization (RFC 7617)."
    public static let shape = Shape.object(
        ObjectShape(
            "basic_auth",
            [
                Key("user", .text(user), "The user's name.", isRequired: true),
                Key("password", .text(.any), "The password, such as ${credential.NAME}.", isRequired: true),
                Key(
                    "send", .choice(BasicLogin.Sending.allCases.map(\.rawValue)),
                    "The requests that get it. always: all. missing: those without Authorization. challenged: those that get 401 with a Basic challenge.",
                    standard: BasicLogin.Sending.missing.rawValue), PageOrigins.key,
            ]))
    public static let sendsSecret = true

    private let login: BasicLogin

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields, let user = fields.text("user"), let password = fields.text("password") else {
            return nil
        }
        login = BasicLogin(
            credentials: "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))",
            sending: fields.text("send").flatMap(BasicLogin.Sending.init) ?? .missing, origins: fields.pageOrigins)
    }

    private static let user = TextFormat("a user's name, which holds no colon", isQuotable: false) { text in
        !text.isEmpty && !text.utf8.contains(ASCII.colon)
    }

    public func equip(_ rule: inout Rule) { rule.login = .basic(login) }

    public var words: String {
        switch login.sending {
        case .always: "sends a password with each request (Basic)"
        case .missing: "sends a password with requests without Authorization (Basic)"
        case .challenged: "sends a password after a 401 with a challenge (Basic)"
        }
    }
}
