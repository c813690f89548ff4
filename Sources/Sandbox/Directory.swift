/// The people and programs of the sandbox; the same in every realm, all with the password `changeit`.
///
/// - `demo` and `user1` to `user9` are users.
/// - `policyadmin` may also ask for policy decisions over REST, as a gateway's own account may.
enum Directory {
    private static let password = "changeit"
    private static let users = ["demo"] + (1...9).map { "user\($0)" } + ["policyadmin"]

    static func accepts(_ name: String, _ password: String) -> Bool {
        users.contains(name) && password == Self.password
    }

    static func mayEvaluatePolicies(_ name: String) -> Bool { name == "policyadmin" }

    /// An OAuth 2.0 client.
    struct Client: Sendable {
        var id: String
        /// Nil for a public client, which needs PKCE or nothing.
        var secret: String?
    }

    /// `app` is public; `service` has the secret `changeit` and may use client credentials.
    static let clients = [Client(id: "app", secret: nil), Client(id: "service", secret: password)]
}
