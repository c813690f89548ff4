public import Authorization
public import TLSEngine

/// Keeps tokens over restarts: each a document of its own, sealed, under a name that tells by which key and nothing else.
public final class TokenVault: Sendable {
    private let state: any StateStore & Sendable
    private let sealing: Sealing
    /// What names begin with. It tells this key from others, and nothing of it.
    private let mark: String
    private let policy: TokenPolicy?

    /// Fewer bytes are no key.
    public static let leastKey = 32
    /// Those of entries that are there no more are kept for so many seconds: whoever takes one away may put it back.
    public static let orphanLife = 30 * 86_400

    /// - Parameter secret: what the key is made of, `leastKey` bytes at least.
    /// - Returns: nil where there are fewer.
    public init?(_ state: any StateStore & Sendable, secret: SecretBytes, _ policy: TokenPolicy?) {
        guard secret.count >= Self.leastKey else { return nil }
        guard let sealing = Sealing(for: "usher tokens: key\n", of: secret) else { return nil }
        let mark = Sealing.derived("usher tokens: mark\n", secret)
        self.state = state
        self.sealing = sealing
        self.mark = String(mark.prefix(5).reduce(0) { $0 << 8 | UInt64($1) }, radix: 36) + "-"
        self.policy = policy
    }

    /// It is another one, or over.
    /// - Parameters:
    ///   - token: nil where it is over.
    ///   - seconds: since 1970.
    public func keep(_ token: KeptToken?, _ key: TokenKey, at seconds: Int) {
        let place = StateKey(.tokens, mark + KeptToken.name(of: key))
        if let token {
            // of an entry that is there no more it stays as it was: the entry may come back
            guard let source = source(of: token) else { return }
            if source.settings.keeping == .sealed, let document = token.document(at: seconds),
                let sealed = sealing.seal(document, name: place.name), state.set(place, sealed)
            {
                return
            }
            // where there is no room for it, what was there before it is spent
        }
        if state.value(of: place) != nil { state.remove(place) }
    }

    /// The entry that it is of; of what clients were granted themselves, one that it suits, first of those that keep it.
    private func source(of token: KeptToken) -> TokenSource? {
        let sources = policy?.sources ?? []
        let own = sources.first { $0.identity == token.source }
        guard case .chain(_, let chain) = token.holder, own?.settings.keeping != .sealed else { return own }
        let suited = (policy?.learned ?? []).filter { $0.server == chain.server && $0.takes(token.grant) }
        return suited.first { $0.settings.keeping == .sealed } ?? own ?? suited.first
    }

    // MARK: what is there

    public struct Found: Sendable {
        /// How many of them there are once more.
        public var restored = 0
        /// Sealed with another key.
        public var foreign = 0
        /// Sealed with this one, and they do not open.
        public var damaged = 0
        /// Of entries that are there no more, or do not ask for it.
        public var orphans = 0
    }

    /// Puts what was kept before into a ledger. What is good for nothing is removed, what does not open is left where it is.
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
            } else if token.grant.isOfUse(at: now.seconds), kept + Self.orphanLife > now.seconds {
                found.orphans += 1
            } else {
                state.remove(StateKey(.tokens, name))
            }
        }
        found.restored = restored.count
        // what came last goes along first
        for one in restored.sorted(by: { ($0.kept, $0.token.number) < ($1.kept, $1.token.number) }) {
            ledger.restore(one.token, one.source, now)
        }
        return found
    }

    /// Of the same key.
    public func isLike(_ other: TokenVault) -> Bool { mark == other.mark }

    /// What another key sealed is sealed with this one, those of entries that are there no more too. What does not open stays.
    public func takeOver(from old: TokenVault) {
        for (name, sealed) in state.documents(in: .tokens) where name.hasPrefix(old.mark) {
            let new = mark + name.dropFirst(old.mark.count)
            guard let document = old.sealing.open(sealed, name: name),
                let again = sealing.seal(document, name: new)
            else { continue }
            // first, for there may be no room for both
            state.remove(StateKey(.tokens, name))
            state.set(StateKey(.tokens, new), again)
        }
    }
}

extension KeptToken {
    fileprivate var number: UInt64 { if case .chain(let number, _) = holder { number } else { 0 } }
}
