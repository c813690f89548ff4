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

/// Tokens, shared by all loops.
public final class TokenTable: TokenStore, Sendable {
    private let ledger = Locked(TokenLedger())

    public init() {}

    public func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { ledger.withLock(body) }
}
