public import Addresses
public import Authorization

/// The tokens that were won, one for each entry of `tokens:` and whoever it is for.
public typealias TokenLedger = SharedLogins<TokenGrant>
public typealias TokenStore = SharedLoginStore<TokenGrant>

/// Whose token it is.
public struct TokenKey: LoginKey {
    public let source: TokenSource
    /// Nil for one that all clients share, as it is the configuration's own.
    public let client: TokenClient?
    /// A digest of the user's session, where the token was had by it.
    public let session: UInt128?

    public init(_ source: TokenSource, client: TokenClient? = nil, session: UInt128? = nil) {
        self.source = source
        self.client = client
        self.session = session
    }

    public var hold: Int { source.settings.hold }
    public var coolDown: Int { source.settings.coolDown }
}

/// A client as `client_by` tells it from others.
public enum TokenClient: Hashable, Sendable {
    case user(String)
    /// All of loopback is one: every program on this machine has every address of it.
    case address(IPAddress)
    /// A digest of what stands in a header.
    case named(UInt128)
}

extension TokenGrant: LoginGain {
    public typealias Key = TokenKey

    public static var most: Int { 4096 }
    public static var notAgain: String {
        "a token that had just been won was refused as well, so no other is asked for yet (cool_down)"
    }

    public func lasts(_ key: TokenKey, until seconds: Int) -> Bool { expires.map { $0 > seconds } ?? true }
    public func isDue(_ key: TokenKey, at seconds: Int) -> Bool { dueAt.map { $0 <= seconds } ?? false }
    public var renews: Bool { refresh != nil || key != nil }
}

extension TokenConversation: LoginTalk {}
