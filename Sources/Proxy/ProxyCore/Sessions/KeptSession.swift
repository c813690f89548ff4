public import Authorization

/// A session of Usher's own login, as it is kept for all exchanges.
public struct KeptSession: Credential {
    public let session: OwnSession
    /// When to renew it, and its end, in milliseconds of the monotonic clock.
    let dueAt: Int
    let until: Int

    public static var most: Int { 4096 }
    public static var mostUnderWay: Int { 1 }
    public static var notAgain: String { "a new session was refused as well" }
    /// A resource that refuses a new session has another reason.
    public static var youth: Int { 10_000 }
    /// AM alone tells whether the session is over.
    public static var endsByRefusal: Bool { false }

    public func lasts(_ key: SessionKey, at now: LoginTime) -> Bool { now.milliseconds < until }
    public func isDue(_ key: SessionKey, at now: LoginTime) -> Bool { dueAt <= now.milliseconds }

    /// The session that AM put in its place.
    func upgraded(to token: String, affinity: String?) -> KeptSession {
        KeptSession(session: session.upgraded(to: token, affinity: affinity), dueAt: dueAt, until: until)
    }
}

/// Identifies a login of Usher by a digest of all that the configuration says about it.
public struct SessionKey: CredentialKey {
    private let digest: UInt128
    public let hold: Int
    public let coolDown: Int

    public init(_ policy: AuthorizationPolicy) {
        digest = TokenDigest.of(policy.loginMaterial)
        hold = policy.hold
        coolDown = policy.sessions.login.coolDown
    }

    public var owner: UInt128 { digest }

    public static func == (left: SessionKey, right: SessionKey) -> Bool { left.digest == right.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
