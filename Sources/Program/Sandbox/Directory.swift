/// The users, clients, policies and trees of the sandbox. Those of its document come before those that are built in.
///
/// - `demo` and `user1`, `user2` and so on are users in every realm, with the password `changeit`.
/// - `policyadmin` may also evaluate policies over REST, as a gateway's account may.
public struct Directory: Sendable {
    public struct User: Sendable {
        public var name: String
        public var password: String
        /// Nil for every realm.
        public var realm: String?
        /// The secret of one-time passwords; nil for the shared one.
        var secret: [UInt8]?

        /// Reads `NAME:PASSWORD` or `NAME:PASSWORD@/realm`; nil for anything else.
        public init?(_ text: String) {
            let halves = text.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { return nil }
            name = String(halves[0])
            var secret = halves[1]
            if let place = secret.lastIndex(of: "@"), secret[place...].hasPrefix("@/") {
                realm = String(secret[secret.index(after: place)...])
                secret = secret[..<place]
            }
            guard !secret.isEmpty else { return nil }
            password = String(secret)
        }

        init(name: String, password: String) {
            self.name = name
            self.password = password
        }
    }

    /// An OAuth 2.0 client.
    struct Client: Sendable {
        var id: String
        /// Nil for a public client, which needs PKCE.
        var secret: String?
        /// Redirect URIs beyond those that `RedirectURI` accepts.
        var redirectURIs: [String] = []
    }

    private static let password = "changeit"
    /// The shared secret of one-time passwords; GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ in Base32.
    static let secret = Array("12345678901234567890".utf8)

    /// `app` is public; `service` has the secret `changeit` and may use client credentials.
    private static let clients = [Client(id: "app", secret: nil), Client(id: "service", secret: password)]

    /// The count of `user1` and so on.
    public var numbered = 9
    /// Additional users. Each replaces a default user of the same name.
    public var others: [User] = []
    var document = SandboxDocument()

    private func user(_ name: String, _ realm: String) -> User? {
        (others + document.users).last { $0.name == name && ($0.realm ?? realm) == realm }
    }

    func accepts(_ name: String, _ password: String, realm: String) -> Bool {
        user(name, realm).map { $0.password == password } ?? (isStandard(name) && password == Self.password)
    }

    func knows(_ name: String, realm: String) -> Bool { user(name, realm) != nil || isStandard(name) }

    /// The secret of one-time passwords; nil without such a user.
    func secret(of name: String, realm: String) -> [UInt8]? {
        knows(name, realm: realm) ? user(name, realm)?.secret ?? Self.secret : nil
    }

    func client(_ id: String?) -> Client? { (document.clients + Self.clients).first { $0.id == id } }

    private var trees: [Tree] { document.trees + Trees.all }
    var treeNames: [String] { trees.map(\.name) }

    func tree(named name: String) -> Tree? { trees.first { $0.name == name } }

    /// The tree with the lowest sufficient level.
    func tree(reaching level: Int) -> Tree? { trees.filter { $0.level >= level }.min { $0.level < $1.level } }

    private func isStandard(_ name: String) -> Bool {
        if name == "demo" || name == "policyadmin" { return true }
        guard name.hasPrefix("user"), let number = Int(name.dropFirst(4)) else { return false }
        return number >= 1 && number <= numbered && name == "user\(number)"
    }

    static func mayEvaluatePolicies(_ name: String) -> Bool { name == "policyadmin" }
}
