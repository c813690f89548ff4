internal import Formats

/// The tokens of the page's port, and the keys that a browser exchanges for one.
///
/// A key is in a link, which terminals and browsers remember, so it works once and for a short time.
public struct PageAccess {
    /// What a page may see, by who asked for its link.
    public struct Tokens: Sendable {
        /// For the page of a user of the control socket.
        public let member = PageAccess.secret()
        /// For the page of the daemon's user or root, who may also see secrets.
        public let owner = PageAccess.secret()
    }

    public let tokens = Tokens()
    private var keys: [(key: ControlToken, isOwner: Bool, until: Int)] = []

    /// The life of a key in milliseconds.
    public static let life = 120_000
    /// The limit of unused keys.
    static let most = 16

    public init() {}

    /// Makes a key.
    /// - Parameter now: monotonic milliseconds.
    public mutating func key(isOwner: Bool, now: Int) throws(ControlProblem) -> String {
        keys.removeAll { $0.until <= now }
        guard keys.count < Self.most else {
            var problem = ControlProblem(
                429, "\(Self.most) links to the page are unused; use one, or wait until the oldest is 2 minutes old")
            problem.retryAfter = max(1, ((keys.map(\.until).min() ?? now) - now + 999) / 1000)
            throw problem
        }
        let key = Self.secret()
        keys.append((ControlToken(Array(key.utf8)), isOwner, now + Self.life))
        return key
    }

    /// Takes a key.
    /// - Returns: the token for it; nil if the key is unknown, used or too old.
    public mutating func token(for key: String, now: Int) -> String? {
        keys.removeAll { $0.until <= now }
        let given = Array(key.utf8)
        // all are compared, so that the time tells nothing
        let hits = keys.indices.filter { keys[$0].key.isEqual(given) }
        guard let hit = hits.first else { return nil }
        return keys.remove(at: hit).isOwner ? tokens.owner : tokens.member
    }

    /// A text of 192 random bits.
    private static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        return Base64.encode((0..<24).map { _ in UInt8.random(in: 0 ... .max, using: &random) }, urlSafe: true)
    }
}
