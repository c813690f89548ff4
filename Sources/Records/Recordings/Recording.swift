internal import Formats
public import Journal

/// Recorded exchanges in their order, with aliases in place of secrets.
public struct Recording: Sendable {
    /// The version of the files.
    public static let version = 1
    /// The most exchanges of a recording.
    public static let most = 1000

    public var name: String
    /// Seconds since 1970.
    public var recorded: Int
    /// The forms of the values that a replay makes.
    public var values: [SecretAlias: ValueForm] = [:]
    /// The places of requests whose values differ from run to run, such as `query.nonce`.
    public var volatile: Set<String> = []
    public var exchanges: [RecordedExchange]

    public init(name: String, recorded: Int, exchanges: [RecordedExchange]) {
        self.name = name
        self.recorded = recorded
        self.exchanges = exchanges
    }

    /// All aliases of the exchanges.
    public var aliases: Set<SecretAlias> { Set(ValueSources(exchanges).all.keys) }

    /// The origins of all requests, each once.
    public var origins: [String] {
        var origins: [String] = []
        for exchange in exchanges where !origins.contains(exchange.origin) { origins.append(exchange.origin) }
        return origins
    }
}

/// A recorded request and its response.
public struct RecordedExchange: Sendable {
    /// The name of its file without the extension, such as `003-authenticate`.
    public var name: String
    public var action: String?
    public var tree: String?
    /// Seconds since 1970.
    public var at: Int
    public var method: String
    /// The origin, such as `https://am.example.com`.
    public var origin: String
    /// Path and query.
    public var target: String
    public var request: RecordedMessage
    public var status: Int
    public var response: RecordedMessage

    public init(
        name: String, action: String? = nil, tree: String? = nil, at: Int, method: String, url: String,
        request: RecordedMessage, status: Int, response: RecordedMessage
    ) {
        self.name = name
        self.action = action
        self.tree = tree
        self.at = at
        self.method = method
        (origin, target) = Self.parts(of: url)
        self.request = request
        self.status = status
        self.response = response
    }

    public var url: String { origin + target }

    /// The origin and the rest of an absolute URL.
    static func parts(of url: String) -> (origin: String, target: String) {
        let bytes = url.utf8
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        guard let slash = bytes[start...].firstIndex(where: { $0 == 0x2F || $0 == 0x3F }) else { return (url, "/") }
        return (String(url[..<slash]), String(url[slash...]))
    }
}

/// The fields and the body of a recorded message.
public struct RecordedMessage: Sendable {
    public var fields: [(name: String, value: String)]
    /// Without content coding.
    public var body: [UInt8]

    public init(fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    public func value(_ name: String) -> String? { fields.first { ASCII.equal($0.name, name) }?.value }

    var isForm: Bool { ASCII.lowercased(value("Content-Type") ?? "").hasPrefix("application/x-www-form-urlencoded") }
}

/// The form of a value that a replay makes.
public enum ValueForm: String, CaseIterable, Sendable {
    /// An AM session.
    case session
    case uuid
    /// Random characters.
    case opaque
    /// A signed JSON Web Token.
    case jwt
    /// A signed token with issuer, audience, subject and nonce.
    case id_token

    /// The usual form of a value.
    /// - Parameter name: the name of its field, parameter or member.
    init(_ kind: SecretKind, named name: String) {
        self =
            switch kind {
            case .token where name == "id_token": .id_token
            case .authId: .jwt
            case .session: .session
            case .transaction: .uuid
            default: .opaque
            }
    }
}
