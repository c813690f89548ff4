public import Authorization

/// Stores the ledger over restarts.
extension TokenLedger {
    /// Starts recording changes for `takeChanges`.
    public mutating func noteChanges() { logins.noteChanges() }

    /// Tokens that changed since the last call; nil for a removed one.
    public mutating func takeChanges() -> [(key: TokenKey, token: KeptToken?)] {
        let keys = logins.takeChanges()
        return keys.isEmpty ? [] : keys.map { ($0, kept($0)) }
    }

    /// All tokens.
    public var all: [(key: TokenKey, token: KeptToken?)] { logins.entries.keys.map { ($0, kept($0)) } }

    private func kept(_ key: TokenKey) -> KeptToken? {
        guard let grant = logins.last(key) else { return nil }
        let holder: KeptToken.Holder
        switch key.holder {
        case .everybody: holder = .everybody
        case .client(let client, let session): holder = .client(client, session: session)
        case .chain(let number, _):
            guard let chain = chains[number], let server = chain.signers.first?.server else { return nil }
            let clients = chain.signers.map { signer in
                (client: signer.client, isSignedIn: signedIn[signer]?.contains(number) ?? false)
            }
            holder = .chain(number, .init(server: server, clients: clients, page: chain.page, given: chain.given))
        }
        return KeptToken(source: key.source.identity, holder: holder, grant: grant)
    }

    /// Takes over stored tokens, the oldest first. A key that is already in use stays as it is.
    mutating func restore(_ token: KeptToken, _ source: TokenSource, _ now: Now) {
        let key: TokenKey
        switch token.holder {
        case .everybody: key = TokenKey(source)
        case .client(let client, let session): key = TokenKey(source, .client(client, session: session))
        case .chain(let number, let kept):
            guard let first = kept.clients.first, !kept.given.contains(where: { given[$0] != nil }) else { return }
            reserve(number)
            // a sign-in of this process may have that number
            let number = chains[number] == nil ? number : last + 1
            reserve(number)
            key = TokenKey(source, .chain(number, client: first.client))
            chains[number] = Chain(
                key: key, page: kept.page, signers: kept.clients.map { Signer(server: kept.server, client: $0.client) },
                given: kept.given)
            for digest in kept.given { given[digest] = number }
            for one in kept.clients where one.isSignedIn {
                signedIn[Signer(server: kept.server, client: one.client), default: []].append(number)
            }
        }
        guard !logins.knows(key) else { return }
        logins.put(token.grant, key, now)
    }

    /// The grants to revoke when the process ends. They are removed from the ledger.
    /// - Parameter policy: the current one. A token of a removed entry follows the entry's last rules.
    public mutating func takeRevocable(by policy: TokenPolicy?) -> [(grant: TokenGrant, source: TokenSource)] {
        let found = logins.entries.keys.map { (key: $0, source: Self.source(of: $0, by: policy)) }
            .filter { $0.source.settings.revocation == .atEnd }
        defer { for one in found { logins.forget(one.key) } }
        return found.compactMap { one in logins.last(one.key).map { ($0, one.source) } }
    }

    private static func source(of key: TokenKey, by policy: TokenPolicy?) -> TokenSource {
        policy?.sources.first { $0.identity == key.source.identity } ?? key.source
    }

    /// The grants that only the requests of these clients carry.
    func signedIn(_ source: TokenSource, _ signers: Signers) -> [(grant: TokenGrant, source: TokenSource)] {
        let all = signers.clients.map { Signer(server: signers.server, client: $0) }
        let numbers = Set(all.flatMap { signedIn[$0] ?? [] })
        return numbers.compactMap { number in
            guard let chain = chains[number],
                chain.signers.allSatisfy({ all.contains($0) || signedIn[$0]?.contains(number) != true })
            else { return nil }
            return logins.last(chain.key).map { ($0, source) }
        }
    }

    /// Keeps new chains from using the number of a stored one.
    mutating func reserve(_ number: UInt64) { last = max(last, number) }
}
