public import Authorization

/// The obtained tokens: one for each entry of `tokens:` and holder, and one for each client's own grant. Usher may have spent a
/// client's refresh token: while its digest is known, it leads to the current one.
public struct TokenLedger: Sendable {
    public typealias Now = LoginTime

    /// Clients of one server, as each entry identifies them.
    struct Signers: Sendable {
        let server: String
        let clients: [TokenClient]
    }

    struct Signer: Hashable, Sendable {
        let server: String
        let client: TokenClient
    }

    struct Chain: Sendable {
        /// The key of its token in `logins`.
        let key: TokenKey
        /// The origin of the page that obtained it; empty for none, and for AM's own pages.
        var page = ""
        /// The clients that have it.
        var signers: [Signer] = []
        /// Digests of the refresh tokens that the client got, the newest last.
        var given: [UInt128] = []
    }

    public var logins = CredentialLedger<TokenGrant>()
    var chains: [UInt64: Chain] = [:]
    /// Digests of refresh tokens that clients got, each with its chain.
    var given: [UInt128: UInt64] = [:]
    /// The chains of each signed-in client, the newest last.
    var signedIn: [Signer: [UInt64]] = [:]
    var last: UInt64 = 0

    /// The most chains of one client, and of refresh tokens that it may still send. The oldest is dropped.
    private static let mostOfOne = 16
    private static let mostGiven = 8
    /// The most clients of one chain.
    private static let mostSigners = 8

    public init() {}

    // MARK: tokens for requests

    /// The client's latest grant that suits the entry.
    /// - Parameter winners: the origins of pages, the best first, of which one must have obtained it.
    func learned(for source: TokenSource, _ client: TokenClient, winners: [String] = [""]) -> TokenKey? {
        let numbers = signedIn[Signer(server: source.server, client: client)] ?? []
        for winner in winners {
            let found = numbers.reversed().lazy.filter { chains[$0]?.page == winner }
                .map { TokenKey(source, .chain($0, client: client)) }
                .first { logins.last($0).map(source.takes) ?? false }
            if let found { return found }
        }
        return nil
    }

    /// Stores a grant of a client.
    /// - Parameters:
    ///   - page: the origin of the page that asked for it; empty for none.
    ///   - key: the renewed token and the fetch of its renewal; nil for a sign-in.
    mutating func learn(
        _ grant: TokenGrant, _ source: TokenSource, _ signers: Signers, page: String = "",
        renewing past: (key: TokenKey, fetch: Int)?,
        _ now: Now
    ) {
        guard let first = signers.clients.first else { return }
        let all = signers.clients.map { Signer(server: signers.server, client: $0) }
        let number: UInt64
        if let past, case .chain(let known, _) = past.key.holder, chains[known] != nil {
            number = known
            if !logins.won(grant, past.key, fetch: past.fetch, now) { logins.put(grant, past.key, now) }
        } else {
            forgetLost()
            last += 1
            number = last
            logins.put(grant, TokenKey(source, .chain(number, client: first)), now)
        }
        var chain = chains[number] ?? Chain(key: TokenKey(source, .chain(number, client: first)), page: page)
        chain.signers += all.filter { !chain.signers.contains($0) }
        while chain.signers.count > Self.mostSigners { leave(number, chain.signers.removeFirst()) }
        if let refresh = grant.refresh { give(refresh, number, &chain, signers.server) }
        chains[number] = chain
        for signer in all { sign(signer, number) }
    }

    private mutating func give(_ refresh: String, _ number: UInt64, _ chain: inout Chain, _ server: String) {
        let digest = Self.digest(refresh, server)
        // the refresh token belongs to this chain now, not to its former one
        given[digest] = number
        chain.given.removeAll { $0 == digest }
        chain.given.append(digest)
        while chain.given.count > Self.mostGiven { forget(chain.given.removeFirst(), number) }
    }

    private mutating func sign(_ signer: Signer, _ number: UInt64) {
        var numbers = signedIn[signer] ?? []
        numbers.removeAll { $0 == number }
        numbers.append(number)
        var over: [UInt64] = []
        while numbers.count > Self.mostOfOne { over.append(numbers.removeFirst()) }
        signedIn[signer] = numbers
        for number in over { lose(number, signer) }
    }

    /// Takes the chain from a client that has too many.
    private mutating func lose(_ number: UInt64, _ signer: Signer) {
        chains[number]?.signers.removeAll { $0 == signer }
        if chains[number]?.signers.isEmpty == true { remove(number) }
    }

    // MARK: tokens from clients

    /// The key of a refresh token that one of these clients got; nil if it is unknown or another client's.
    func find(_ refresh: String, _ source: TokenSource, _ signers: Signers) -> TokenKey? {
        guard let number = given[Self.digest(refresh, signers.server)], let chain = chains[number],
            let client = signers.clients.first(where: {
                chain.signers.contains(Signer(server: signers.server, client: $0))
            })
        else { return nil }
        let key = TokenKey(source, .chain(number, client: client))
        return logins.knows(key) ? key : nil
    }

    /// Drops a token that a client revokes, with all others of the same sign-in.
    /// - Returns: whether the token was known.
    mutating func revoke(_ token: String, _ source: TokenSource, _ signers: Signers) -> Bool {
        if let key = find(token, source, signers), case .chain(let number, _) = key.holder {
            remove(number)
            return true
        }
        for client in signers.clients {
            for number in signedIn[Signer(server: signers.server, client: client)] ?? [] {
                guard let grant = logins.last(TokenKey(source, .chain(number, client: client))),
                    token == grant.access || token == grant.refresh
                else { continue }
                remove(number)
                return true
            }
        }
        return false
    }

    /// Stops sending the tokens of these clients. A client can still get the successor of a spent refresh token, as another of
    /// its programs may still be signed in.
    /// - Returns: whether there was a token.
    mutating func signOut(_ signers: Signers) -> Bool {
        let all = signers.clients.map { Signer(server: signers.server, client: $0) }
        let numbers = Set(all.flatMap { signedIn.removeValue(forKey: $0) ?? [] })
        for number in numbers {
            guard let chain = chains[number] else { continue }
            logins.touch(chain.key)
            // an entry that identifies clients otherwise may send it for another client
            if chain.signers.contains(where: { signedIn[$0]?.contains(number) == true }) { continue }
            let newest = logins.last(chain.key)?.refresh.map { Self.digest($0, signers.server) }
            if newest == nil || newest == chain.given.last { remove(number) } else { logins.end(chain.key) }
        }
        return !numbers.isEmpty
    }

    private mutating func remove(_ number: UInt64) {
        guard let chain = chains.removeValue(forKey: number) else { return }
        for digest in chain.given { forget(digest, number) }
        for signer in chain.signers { leave(number, signer) }
        logins.forget(chain.key)
    }

    private mutating func leave(_ number: UInt64, _ signer: Signer) {
        signedIn[signer]?.removeAll { $0 == number }
        if signedIn[signer]?.isEmpty == true { signedIn[signer] = nil }
    }

    private mutating func forget(_ digest: UInt128, _ number: UInt64) {
        if given[digest] == number { given[digest] = nil }
    }

    /// Drops chains whose token was displaced.
    private mutating func forgetLost() {
        guard chains.count >= 2 * TokenGrant.most else { return }
        for (number, chain) in chains where !logins.knows(chain.key) { remove(number) }
    }

    private static func digest(_ token: String, _ server: String) -> UInt128 { TokenDigest.of("\(server) \(token)") }
}

/// Keeps the ledger for all loops.
public protocol TokenStore: CredentialStore<TokenGrant> {
    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result
}

extension TokenStore {
    /// The store as logins see it.
    var shared: any CredentialStore<TokenGrant> { self }
}

extension TokenLedger: CredentialKeeper {
    public mutating func changeCredentials<Result>(_ body: (inout CredentialLedger<TokenGrant>) -> Result) -> Result {
        body(&logins)
    }
}
