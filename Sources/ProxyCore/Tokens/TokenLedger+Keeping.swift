public import Authorization

/// What of the ledger outlives the process.
extension TokenLedger {
    /// From here on `takeChanges` knows.
    public mutating func noteChanges() { logins.noteChanges() }

    /// What has changed since: nil where there is none any more.
    public mutating func takeChanges() -> [(key: TokenKey, token: KeptToken?)] {
        let keys = logins.takeChanges()
        return keys.isEmpty ? [] : keys.map { ($0, kept($0)) }
    }

    /// What is renewed, or won, no longer since this was asked last.
    public mutating func takeLanded() -> [TokenKey] { logins.takeLanded() }

    /// Everything that there is.
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

    /// What was kept before, the oldest first. A place that was taken since stays as it is.
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

    /// What AM is to be told of where the process ends: it goes along no more.
    /// - Parameter policy: in force by now. What is of an entry that is there no more is dealt with by its last words.
    public mutating func takeRevocable(by policy: TokenPolicy?) -> [(grant: TokenGrant, source: TokenSource)] {
        let found = logins.entries.keys.map { (key: $0, source: Self.source(of: $0, by: policy)) }
            .filter { $0.source.settings.revocation == .atEnd }
        defer { for one in found { logins.forget(one.key) } }
        return found.compactMap { one in logins.last(one.key).map { ($0, one.source) } }
    }

    private static func source(of key: TokenKey, by policy: TokenPolicy?) -> TokenSource {
        policy?.sources.first { $0.identity == key.source.identity } ?? key.source
    }

    /// What goes along with the requests of these clients, and of nobody else.
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

    /// No other chain gets a number that one has which is kept.
    mutating func reserve(_ number: UInt64) { last = max(last, number) }
}
