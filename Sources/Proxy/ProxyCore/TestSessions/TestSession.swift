import Formats

/// A test session as the exchanges of one loop see it: its rules, and the stores that no other session sees.
public final class TestSession {
    public let id: String
    public let engine: Engine
    public let stores: SharedStores

    public init(_ id: String, _ engine: Engine, _ stores: SharedStores) {
        self.id = id
        self.engine = engine
        self.stores = stores
    }
}

/// The test sessions that are open.
public protocol TestSessionStore: AnyObject {
    /// Nil when the session has ended.
    func session(_ id: String) -> TestSession?
    /// Nil when no session has that key.
    func session(of key: TestSessionKey) -> TestSession?
}

/// What shows that a request is of a test session: the session's id and its secret. A client sends it as the user and password of
/// the proxy, or as `id:secret` in the field `Usher-Session`.
public struct TestSessionKey: Equatable, Sendable {
    public let id: String
    public let secret: String

    /// Every id begins with it, so that proxy credentials of a session are told from those of a user.
    public static let prefix = "s-"
    public static let field = "Usher-Session"

    public init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }

    /// Nil if the credentials are not those of a session.
    init?(_ credentials: BasicCredentials) {
        guard credentials.user.hasPrefix(Self.prefix) else { return nil }
        self.init(id: credentials.user, secret: String(decoding: credentials.password, as: UTF8.self))
    }

    /// - Parameter value: the value of the field.
    init(field value: String) {
        let parts = value.utf8.split(separator: ASCII.colon, maxSplits: 1, omittingEmptySubsequences: false)
        self.init(id: String(Substring(parts[0])), secret: parts.count > 1 ? String(Substring(parts[1])) : "")
    }

    /// The value of the field.
    public var fieldValue: String { "\(id):\(secret)" }
}
