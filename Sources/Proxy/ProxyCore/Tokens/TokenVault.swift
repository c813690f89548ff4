public import Authorization
public import TLSEngine

/// Stores tokens over restarts: one sealed document each. Its name identifies the key, and reveals nothing else.
public final class TokenVault: Sendable {
    private let state: any StateStore & Sendable
    private let sealing: Sealing
    /// The prefix of the names. It identifies the sealing key and reveals nothing of it.
    private let mark: String
    private let policy: TokenPolicy?

    /// The least length of the secret, in bytes.
    public static let leastKey = 32
    /// Seconds for which tokens of removed entries are stored, as an entry may come back.
    public static let unclaimedLife = 30 * 86_400

    /// - Parameter secret: the source of the key, at least `leastKey` bytes.
    /// - Returns: nil if the secret is shorter.
    public init?(_ state: any StateStore & Sendable, secret: SecretBytes, _ policy: TokenPolicy?) {
        guard secret.count >= Self.leastKey else { return nil }
        guard let sealing = Sealing(for: "usher tokens: key\n", of: secret) else { return nil }
        let mark = Sealing.derived("usher tokens: mark\n", secret)
        self.state = state
        self.sealing = sealing
        self.mark = String(mark.prefix(5).reduce(0) { $0 << 8 | UInt64($1) }, radix: 36) + "-"
        self.policy = policy
    }

    /// Stores a changed token, or removes one that is over.
    /// - Parameters:
    ///   - token: nil if it is over.
    ///   - seconds: since 1970.
    public func keep(_ token: KeptToken?, _ key: TokenKey, at seconds: Int) {
        let place = StateKey(.tokens, mark + KeptToken.name(of: key))
        if let token {
            // a token of a removed entry stays as it was: the entry may come back
            guard let source = source(of: token) else { return }
            if source.settings.keeping == .sealed, let document = token.document(at: seconds),
                let sealed = sealing.seal(document, name: place.name), state.set(place, sealed)
            {
                return
            }
            // without room, the stored token is removed, as it is spent
        }
        if state.value(of: place) != nil { state.remove(place) }
    }

    /// The token's entry. For a client's own grant, an entry that it suits; entries that store tokens come first.
    private func source(of token: KeptToken) -> TokenSource? {
        let sources = policy?.sources ?? []
        let own = sources.first { $0.identity == token.source }
        guard case .chain(_, let chain) = token.holder, own?.settings.keeping != .sealed else { return own }
        let suited = (policy?.learned ?? []).filter { $0.server == chain.server && $0.takes(token.grant) }
        return suited.first { $0.settings.keeping == .sealed } ?? own ?? suited.first
    }

    // MARK: stored tokens

    public struct Found: Sendable {
        /// Tokens that were restored.
        public var restored = 0
        /// Documents that another key sealed.
        public var foreign = 0
        /// Documents of this key that do not open.
        public var damaged = 0
        /// Tokens of entries that are gone, or no longer store them.
        public var unclaimed = 0
    }

    /// Restores stored tokens to a ledger. It removes useless ones, and leaves documents that do not open.
    public func restore(into ledger: inout TokenLedger, _ now: LoginTime) -> Found {
        var found = Found()
        var restored: [(token: KeptToken, source: TokenSource, kept: Int)] = []
        for (name, sealed) in state.documents(in: .tokens) {
            guard name.hasPrefix(mark) else {
                found.foreign += 1
                continue
            }
            guard let (token, kept) = sealing.open(sealed, name: name).flatMap(KeptToken.read) else {
                found.damaged += 1
                continue
            }
            if case .chain(let number, _) = token.holder { ledger.reserve(number) }
            let source = source(of: token)
            if let source, source.settings.keeping == .sealed, token.grant.isOfUse(at: now.seconds) {
                restored.append((token, source, kept))
            } else if token.grant.isOfUse(at: now.seconds), kept + Self.unclaimedLife > now.seconds {
                found.unclaimed += 1
            } else {
                state.remove(StateKey(.tokens, name))
            }
        }
        found.restored = restored.count
        // the latest token is used first
        for one in restored.sorted(by: { ($0.kept, $0.token.number) < ($1.kept, $1.token.number) }) {
            ledger.restore(one.token, one.source, now)
        }
        return found
    }

    /// Both vaults have the same key.
    public func isLike(_ other: TokenVault) -> Bool { mark == other.mark }

    /// Seals another key's documents with this key, those of removed entries too. Documents that do not open stay.
    public func takeOver(from old: TokenVault) {
        for (name, sealed) in state.documents(in: .tokens) where name.hasPrefix(old.mark) {
            let new = mark + name.dropFirst(old.mark.count)
            guard let document = old.sealing.open(sealed, name: name),
                let again = sealing.seal(document, name: new)
            else { continue }
            // removes first, as there may be no room for both
            state.remove(StateKey(.tokens, name))
            state.set(StateKey(.tokens, new), again)
        }
    }
}

extension KeptToken {
    fileprivate var number: UInt64 { if case .chain(let number, _) = holder { number } else { 0 } }
}
