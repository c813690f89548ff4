public import Addresses
public import Authorization

/// Identifies a token by its entry and its holder.
public struct TokenKey: CredentialKey {
    public enum Holder: Hashable, Sendable {
        /// All clients share the token of the configuration.
        case everybody
        /// - Parameter session: a digest of the user's session that obtained the token.
        case client(TokenClient, session: UInt128)
        /// The grant of one sign-in of a client, and all its renewals. All entries that it suits share it.
        /// - Parameter client: the client whose requests carry it.
        case chain(UInt64, client: TokenClient)
    }

    public enum Owner: Hashable, Sendable {
        case configuration(UInt128)
        case client(TokenClient)
    }

    /// The entry of `tokens` that sets its rules.
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

/// A client as `client_by` identifies it.
public enum TokenClient: Hashable, Sendable {
    case user(String)
    /// All loopback addresses are one, as every local program can use any of them.
    case address(IPAddress)
    /// A digest of a header field's name and value.
    case named(UInt128)
}

extension TokenGrant: Credential {
    public typealias Key = TokenKey

    public static var most: Int { 4096 }
    public static var mostUnderWay: Int { 16 }
    public static var notAgain: String {
        "a token that had just been won was refused as well, so no other is asked for yet (cool_down)"
    }

    public func lasts(_ key: TokenKey, at now: LoginTime) -> Bool {
        expires.map { $0 > now.seconds } ?? true
    }
    public func isDue(_ key: TokenKey, at now: LoginTime) -> Bool {
        // a grant without a refresh token cannot be renewed
        if case .chain = key.holder, refresh == nil { return false }
        return dueAt(before: key.source.settings.refreshBefore).map { $0 <= now.seconds } ?? false
    }
    public var renews: Bool { refresh != nil || key != nil }
}

extension TokenConversation: LoginTalk {}
