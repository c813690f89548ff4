internal import Interception

/// An upgrade that AM granted, for all who need the same: the same advice, for the same session, of the same client.
public struct SharedUpgrade: Sendable {
    public let outcome: StepUp.Outcome
    /// A hash of the session that it took the place of; it is known to nobody else.
    private let replaced: Int
    /// Tells whose session it was.
    private let mark: Int

    /// - Parameter mark: made by `mark(of:for:at:)`.
    public init(_ outcome: StepUp.Outcome, of session: String, mark: Int) {
        self.outcome = outcome
        self.mark = mark
        replaced = Array(session.utf8).hashValue
    }

    /// Tells a session from those of other clients and of other servers, by a hash that this process alone can make.
    /// - Parameter server: the URL of the AM whose session it is.
    public static func mark(of session: String, for client: String, at server: String) -> Int {
        Login.material([session, client, server]).hashValue
    }

    /// It put another session in the place of the marked one.
    public func replaces(_ mark: Int) -> Bool { outcome.session != nil && mark == self.mark }

    /// It is no good to anybody once this session is over.
    public func dies(with session: String) -> Bool {
        outcome.session.map { $0.utf8.elementsEqual(session.utf8) } == true || replaced == Array(session.utf8).hashValue
    }

    /// How long whoever comes with the old session is given the new one, in milliseconds: an app asks for several things at
    /// once, and a request may be on its way while the answer is that tells it of its new session.
    public static let memory = 10_000
}

extension StepUp {
    /// What tells an upgrade from others; nil where it may not be shared. A transaction is for one request alone.
    /// - Parameter client: who asks, for whom alone a session is upgraded.
    public func sharedMaterial(client: String) -> [UInt8]? {
        guard goal.isShared, let document = goal.payload.tree else { return nil }
        return Login.material([client, document]) + login.inSession
    }
}
