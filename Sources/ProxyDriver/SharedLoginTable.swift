public import Authorization
internal import EventLoop
public import Interception
public import ProxyCore

/// What logins won, shared by all loops. Asked only where something of it is wanted.
public final class SharedLoginTable<Gain: LoginGain>: SharedLoginStore, Sendable {
    private let logins = Locked(SharedLogins<Gain>())

    public init() {}

    public func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { logins.withLock(body) }
}

public typealias CookieSessionTable = SharedLoginTable<CookieJar>
public typealias TokenTable = SharedLoginTable<TokenGrant>
