public import Authorization

/// The tokens that were won: one for each entry of `tokens:` and whoever it is for, and what clients were granted themselves,
/// once, however many entries it suits. A client may come with a refresh token that was spent in its name: what it was given
/// leads to what came of that for as long as that is known.
public struct TokenLedger: Sendable {
    public typealias Now = LoginTime

    /// Clients of one server, by what each entry tells them from others.
    struct Signers: Sendable {
        let server: String
        let clients: [TokenClient]
    }

    struct Signer: Hashable, Sendable {
        let server: String
        let client: TokenClient
    }

    struct Chain: Sendable {
        /// Where its token is kept.
        let key: TokenKey
        /// The origin of the page that won it; empty for none, and for AM's own.
        var page = ""
        /// Who has it.
        var signers: [Signer] = []
        /// Digests of refresh tokens that the client was given, the newest last.
        var given: [UInt128] = []
    }

    public var logins = SharedLogins<TokenGrant>()
    var chains: [UInt64: Chain] = [:]
    /// What clients were given, and the chain that it belongs to.
    var given: [UInt128: UInt64] = [:]
    /// What clients are signed in by, the newest last.
    var signedIn: [Signer: [UInt64]] = [:]
    var last: UInt64 = 0

    /// What of one client goes along, and what it may still come with. The oldest goes.
    private static let mostOfOne = 16
    private static let mostGiven = 8
    /// More things tell no client from others.
    private static let mostSigners = 8

    public init() {}

    // MARK: what goes along

    /// What that client was granted last of what suits the entry.
    /// - Parameter winners: origins of pages, the best first, of which one has to have won it.
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

    /// A client was granted this.
    /// - Parameters:
    ///   - page: the origin of the page that asked for it, where one did.
    ///   - key: of what it has had renewed, and the flight by which it did; nil where it has signed in.
    mutating func learn(
        _ grant: TokenGrant, _ source: TokenSource, _ signers: Signers, page: String = "",
        renewing past: (key: TokenKey, flight: Int)?,
        _ now: Now
    ) {
        guard let first = signers.clients.first else { return }
        let all = signers.clients.map { Signer(server: signers.server, client: $0) }
        let number: UInt64
        if let past, case .chain(let known, _) = past.key.holder, chains[known] != nil {
            number = known
            if !logins.won(grant, past.key, flight: past.flight) { logins.put(grant, past.key, now) }
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
        // what another chain had comes of this one now
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

    /// One of those who have it has too many.
    private mutating func lose(_ number: UInt64, _ signer: Signer) {
        chains[number]?.signers.removeAll { $0 == signer }
        if chains[number]?.signers.isEmpty == true { remove(number) }
    }

    // MARK: what clients come with

    /// What a refresh token belongs to that one of these was given; nil where nobody knows it, or it is another's.
    func find(_ refresh: String, _ source: TokenSource, _ signers: Signers) -> TokenKey? {
        guard let number = given[Self.digest(refresh, signers.server)], let chain = chains[number],
            let client = signers.clients.first(where: {
                chain.signers.contains(Signer(server: signers.server, client: $0))
            })
        else { return nil }
        let key = TokenKey(source, .chain(number, client: client))
        return logins.knows(key) ? key : nil
    }

    /// A client gives this up, and with it all that came of the same sign-in.
    /// - Returns: whether it was known.
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

    /// Nothing of these goes along any more. What was spent in a client's name can be had by that client still: another
    /// program of it may have gone nowhere.
    /// - Returns: whether there was something.
    mutating func signOut(_ signers: Signers) -> Bool {
        let all = signers.clients.map { Signer(server: signers.server, client: $0) }
        let numbers = Set(all.flatMap { signedIn.removeValue(forKey: $0) ?? [] })
        for number in numbers {
            guard let chain = chains[number] else { continue }
            logins.touch(chain.key)
            // an entry that tells clients apart otherwise may have it go along for somebody else
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

    /// Chains whose token had to make room.
    private mutating func forgetLost() {
        guard chains.count >= 2 * TokenGrant.most else { return }
        for (number, chain) in chains where !logins.knows(chain.key) { remove(number) }
    }

    private static func digest(_ token: String, _ server: String) -> UInt128 { TokenDigest.of("\(server) \(token)") }
}

/// Keeps the ledger for all who use the same.
public protocol TokenStore: SharedLoginStore<TokenGrant> {
    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result
}

extension TokenStore {
    /// As those see it who log in.
    var shared: any SharedLoginStore<TokenGrant> { self }

    public func change<Result>(_ body: (inout SharedLogins<TokenGrant>) -> Result) -> Result {
        changeTokens { body(&$0.logins) }
    }
}

/// What was won in one run without a network.
final class DryTokens: TokenStore {
    private var ledger = TokenLedger()

    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { body(&ledger) }
    func enter(_ obstacle: SharedLogins<TokenGrant>.Obstacle) -> FlightTicket? { nil }
    func leave(_ ticket: FlightTicket) {}
}
