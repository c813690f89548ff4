internal import Interception

/// A granted upgrade that is shared by requests with the same advice, session and client.
public struct SharedUpgrade: Sendable {
    public let outcome: StepUp.Outcome
    /// A process-local hash of the session that it replaced.
    private let replaced: Int
    /// Identifies the session and its client.
    private let mark: Int
    /// Its end, in milliseconds of the monotonic clock.
    public let until: Int

    /// - Parameters:
    ///   - mark: made by `mark(of:for:at:)`.
    ///   - now: milliseconds of the monotonic clock.
    public init(_ outcome: StepUp.Outcome, of session: String, mark: Int, now: Int) {
        self.outcome = outcome
        self.mark = mark
        until = now + Self.memory
        replaced = Array(session.utf8).hashValue
    }

    /// A hash that identifies a session by client and server; valid in this process only.
    /// - Parameter server: the URL of the session's AM.
    public static func mark(of session: String, for client: String, at server: String) -> Int {
        Login.material([session, client, server]).hashValue
    }

    /// Whether it replaced the session with this mark.
    public func replaces(_ mark: Int) -> Bool { outcome.session != nil && mark == self.mark }

    /// Whether it becomes useless when this session ends.
    public func dies(with session: String) -> Bool {
        outcome.session.map { $0.utf8.elementsEqual(session.utf8) } == true || replaced == Array(session.utf8).hashValue
    }

    /// How long requests with the old session receive the new one, in milliseconds. An app sends several requests at once, and
    /// some may be under way before it learns of the new session.
    private static let memory = 10_000
}

extension StepUp {
    /// The key by which an upgrade is shared; nil if it must not be. A transaction serves one request only.
    /// - Parameter client: the client; upgrades are never shared with another one.
    public func sharedMaterial(client: String) -> [UInt8]? {
        guard goal.isShared, let document = goal.payload.tree else { return nil }
        return Login.material([client, document]) + login.inSession
    }
}
