public import Addresses
public import Authorization

/// Whose token it is.
public struct TokenKey: LoginKey {
    public enum Holder: Hashable, Sendable {
        /// All clients share it, as it is the configuration's own.
        case everybody
        /// - Parameter session: a digest of the user's session, by which the token was had.
        case client(TokenClient, session: UInt128)
        /// What one sign-in of a client granted, and whatever it was renewed to: one for all entries that it suits.
        /// - Parameter client: who has it go along.
        case chain(UInt64, client: TokenClient)
    }

    public enum Owner: Hashable, Sendable {
        case configuration(UInt128)
        case client(TokenClient)
    }

    /// By whose words it is dealt with.
    public let source: TokenSource
    public let holder: Holder

    public init(_ source: TokenSource, _ holder: Holder = .everybody) {
        self.source = source
        self.holder = holder
    }

    public var owner: Owner {
        switch holder {
        case .everybody: .configuration(source.identity)
        case .client(let client, _), .chain(_, let client): .client(client)
        }
    }
    public var hold: Int { source.settings.hold }
    public var coolDown: Int { source.settings.coolDown }

    public static func == (left: TokenKey, right: TokenKey) -> Bool {
        if case .chain(let one, _) = left.holder, case .chain(let other, _) = right.holder { return one == other }
        return left.holder == right.holder && left.source == right.source
    }

    public func hash(into hasher: inout Hasher) {
        if case .chain(let number, _) = holder { return hasher.combine(number) }
        hasher.combine(holder)
        hasher.combine(source)
    }
}

/// A client as `client_by` tells it from others.
public enum TokenClient: Hashable, Sendable {
    case user(String)
    /// All of loopback is one: every program on this machine has every address of it.
    case address(IPAddress)
    /// A digest of a header and of what stands in it.
    case named(UInt128)
}

extension TokenGrant: LoginGain {
    public typealias Key = TokenKey

    public static var most: Int { 4096 }
    public static var mostUnderWay: Int { 16 }
    public static var notAgain: String {
        "a token that had just been won was refused as well, so no other is asked for yet (cool_down)"
    }

    public func lasts(_ key: TokenKey, until seconds: Int) -> Bool { expires.map { $0 > seconds } ?? true }
    public func isDue(_ key: TokenKey, at seconds: Int) -> Bool {
        // nobody could replace what has nothing to be renewed with
        if case .chain = key.holder, refresh == nil { return false }
        return dueAt(before: key.source.settings.refreshBefore).map { $0 <= seconds } ?? false
    }
    public var renews: Bool { refresh != nil || key != nil }
}

extension TokenConversation: LoginTalk {}
