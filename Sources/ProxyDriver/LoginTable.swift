public import Authorization
internal import EventLoop
public import ProxyCore
internal import TLSEngine

/// The tallies of logins that all loops share; it keeps digests of answers and sessions alone.
public final class LoginTable: LoginStore {
    private let lockout = Locked(Lockout())
    private let digest = KeyedDigest()

    public init() {}

    public func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission {
        // without a digest, for want of memory, nobody is let through uncounted
        guard let key = key(login) else { return .later }
        return lockout.withLock { Self.permission($0.begin(key, limits, now: Loop.monotonicMilliseconds()), key) }
    }

    public func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission {
        lockout.withLock {
            Self.permission($0.begin(key, limits, again: true, now: Loop.monotonicMilliseconds()), key)
        }
    }

    public func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? {
        guard let key = key(login) else { return nil }
        return lockout.withLock { lockout in
            lockout.pause(key, limits, now: Loop.monotonicMilliseconds()).map { Self.permission($0, key) }
        }
    }

    private func key(_ login: Login) -> Lockout.Key? {
        guard let answers = digest.tableKey(login.answers), let session = digest.tableKey(login.inSession) else {
            return nil
        }
        return Lockout.Key(answers: answers, session: session, at: login.place)
    }

    private static func permission(_ permission: Lockout.Permission, _ key: Lockout.Key) -> LoginPermission {
        switch permission {
        case .go: .go(key)
        case .later: .later
        case .held(let refusals, let milliseconds): .held(refusals: refusals, milliseconds: milliseconds)
        }
    }

    public func entries() -> [Lockout.Entry] { lockout.withLock { $0.entries(now: Loop.monotonicMilliseconds()) } }

    /// Forgets what counts against logins: all of them, or the one of that id.
    /// - Returns: how many.
    public func clear(_ id: String?) -> Int { lockout.withLock { $0.clear(id) } }

    public func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) {
        lockout.withLock { $0.grant(key, limits, now: Loop.monotonicMilliseconds()) }
    }

    public func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        lockout.withLock { $0.end(key, verdict, granted: granted, limits, now: Loop.monotonicMilliseconds()) }
    }
}
