internal import Formats
internal import Interception

/// An entry of a resource's `trees`: `StepUp`, or `/alpha:StepUp` with a realm. In the name, `*` matches any characters.
public struct TreePattern: Equatable, Sendable {
    private let realm: String?
    private let name: String

    public init(_ text: String) {
        (realm, name) = Self.split(text)
    }

    var text: String { realm.map { "\($0):\(name)" } ?? name }

    /// The realm and name in `/alpha:StepUp`. AM writes a name without a realm as `StepUp` or `:StepUp`.
    static func split(_ text: String) -> (realm: String?, name: String) {
        guard let colon = text.utf8.firstIndex(of: ASCII.colon) else { return (nil, text) }
        let realm = text[..<colon]
        return (realm.isEmpty ? nil : Realm.normalized(String(realm)), String(text[text.utf8.index(after: colon)...]))
    }

    /// Whether this entry allows a tree of a realm. An entry without a realm means all configured realms.
    func allows(_ name: String, realm asked: String, at server: AuthorizationServer) -> Bool {
        let fits = realm.map { ASCII.equal($0, asked) } ?? (server.configuredRealm(asked) != nil)
        return fits && Glob.matches(self.name, name)
    }

    /// Whether this entry allows everything that the other does; nil allows everything.
    func covers(_ other: TreePattern?) -> Bool {
        guard let other else { return false }
        let fits = realm == nil || other.realm.map { other in realm.map { ASCII.equal($0, other) } ?? true } ?? false
        return fits && Glob.matches(name, other.name)
    }
}
