import Addresses
import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Tokens that are kept for whoever may have them: what tells them apart, their bounds and their ends.
@Suite("Shared tokens")
struct SharedTokenTests {
    private var ledger = TokenLedger()
    private let source = Self.source()

    private static func source(_ change: (inout TokenSettings) -> Void = { _ in }) -> TokenSource {
        let server = AuthorizationServer(url: "https://am.test/am", host: "am.test")
        var settings = TokenSettings(resources: ["https://api.test/*"], manner: .learned, server: server)
        change(&settings)
        return TokenSource(settings)
    }

    private func now(_ seconds: Int = 0) -> LoginTime { .init(milliseconds: seconds * 1000, seconds: 1000 + seconds) }

    private func grant(_ access: String, refresh: String? = nil, lasts seconds: Int = 60) -> TokenGrant {
        var grant = TokenGrant(access: access, refresh: refresh, expires: 1000 + seconds, origin: .learned)
        grant.lifetime = seconds
        return grant
    }

    private mutating func ask(
        _ key: TokenKey, not generation: Int? = nil, for path: String = "/", waited fetch: Int? = nil, at time: Int = 0
    ) -> CredentialLedger<TokenGrant>.Answer {
        let refusal = generation.map { CredentialLedger<TokenGrant>.Refusal(generation: $0, path: path) }
        return ledger.logins.ask(key, after: refusal, waited: fetch, now(time))
    }

    /// A token that somebody fetches.
    private mutating func fetch(_ key: TokenKey, at time: Int = 0) throws -> Int {
        guard case .fetch(let fetch) = ask(key, at: time) else {
            Issue.record("nobody was to fetch it")
            throw Missing()
        }
        return fetch
    }

    private struct Missing: Error {}

    // MARK: keys

    @Test func everyPartOfTheKey() throws {
        let other = Self.source { $0.scope = "other" }
        let address = try #require(IPAddress("192.0.2.1"))
        let keys = [
            TokenKey(source), TokenKey(other), TokenKey(source, .client(.user("ada"), session: 1)),
            TokenKey(other, .client(.user("ada"), session: 1)), TokenKey(source, .client(.user("bob"), session: 1)),
            TokenKey(source, .client(.user("ada"), session: 2)), TokenKey(source, .client(.named(1), session: 1)),
            TokenKey(source, .client(.address(address), session: 1)), TokenKey(source, .chain(1, client: .user("ada"))),
            TokenKey(source, .chain(2, client: .user("ada"))),
        ]
        for (place, key) in keys.enumerated() {
            for (index, other) in keys.enumerated() {
                #expect((key == other) == (place == index), "\(place), \(index)")
            }
        }
        #expect(Set(keys).count == keys.count)
        // on the disk, too; what is learned is kept by its number alone
        #expect(Set(keys.map(KeptToken.name)).count == keys.count)
        // a chain is one for all entries and clients that it is of
        let chain = TokenKey(other, .chain(1, client: .user("bob")))
        #expect(chain == keys[8] && chain.hashValue == keys[8].hashValue)
        // room is the client's, whatever the entry and the session
        #expect(Set([keys[2], keys[3], keys[5], keys[8], keys[9]].map(\.owner)) == [.client(.user("ada"))])
        #expect(keys[0].owner != keys[1].owner && keys[4].owner == .client(.user("bob")))
    }

    /// As addresses tell clients apart: every one of an IPv6 network by itself.
    @Test(
        arguments: [
            ("2001:db8::1", "2001:db8::2", false), ("192.0.2.1", "192.0.2.2", false),
            ("127.0.0.1", "127.9.9.9", true), ("127.0.0.1", "::1", true), ("192.0.2.1", "::ffff:192.0.2.1", true),
        ])
    func whoIsOneClient(_ one: String, _ other: String, isOne: Bool) throws {
        let clients = [one, other].compactMap { IPAddress($0) }.map { address in
            RequestSender(address: address, user: "ada").client(.address, .init())
        }
        try #require(clients.count == 2)
        #expect((clients[0] == clients[1]) == isOne)
    }

    @Test mutating func aRefreshTokenIsOfOneServer() {
        func signers(_ server: String) -> TokenLedger.Signers { .init(server: server, clients: [.user("ada")]) }
        let far = Self.source { $0.server.url = "https://am2.test/am" }
        ledger.learn(grant("a", refresh: "same"), source, signers(source.server), renewing: nil, now())
        ledger.learn(grant("b", refresh: "same"), far, signers(far.server), renewing: nil, now())
        func found(_ source: TokenSource) -> String? {
            ledger.find("same", source, signers(source.server)).flatMap { ledger.logins.last($0)?.access }
        }
        #expect(found(source) == "a" && found(far) == "b")
        #expect(ledger.learned(for: source, .user("ada")).flatMap { ledger.logins.last($0)?.access } == "a")
    }

    // MARK: pages

    @Test mutating func aPageHasWhatItWonItself() {
        let signers = TokenLedger.Signers(server: source.server, clients: [.user("ada")])
        for page in ["", "https://a.test:443", "https://b.test:443"] {
            ledger.learn(grant("of \(page)"), source, signers, page: page, renewing: nil, now())
        }
        func learned(_ winners: [String]) -> String? {
            ledger.learned(for: source, .user("ada"), winners: winners).flatMap { ledger.logins.last($0)?.access }
        }
        #expect(learned(["https://a.test:443"]) == "of https://a.test:443")
        #expect(learned(["https://c.test:443"]) == nil && learned([""]) == "of ")
        #expect(learned(["https://c.test:443", "https://b.test:443", ""]) == "of https://b.test:443")
    }

    // MARK: bounds

    @Test mutating func aClientHasSoManySignIns() {
        let signers = TokenLedger.Signers(server: source.server, clients: [.user("ada")])
        for number in 0..<20 {
            ledger.learn(grant("a\(number)", refresh: "r\(number)"), source, signers, renewing: nil, now())
        }
        let known = (0..<20).filter { ledger.find("r\($0)", source, signers) != nil }
        #expect(known == Array(4..<20) && ledger.logins.entries.count == 16 && ledger.given.count == 16)
    }

    @Test mutating func aChainRemembersSoManyOfItsTokens() throws {
        let signers = TokenLedger.Signers(server: source.server, clients: [.user("ada")])
        ledger.learn(grant("a", refresh: "r0"), source, signers, renewing: nil, now())
        for number in 1..<12 {
            let key = try #require(ledger.find("r\(number - 1)", source, signers))
            guard case .fetch(let fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
            ledger.learn(
                grant("a", refresh: "r\(number)"), source, signers, renewing: (key: key, fetch: fetch), now())
        }
        #expect((0..<12).filter { ledger.find("r\($0)", source, signers) != nil } == Array(4..<12))
        #expect(ledger.given.count == 8 && ledger.chains.count == 1)
    }

    /// By as many things as entries tell it from others, and no more.
    @Test mutating func aChainHasSoManyWhoHaveIt() throws {
        ledger.learn(
            grant("a", refresh: "r0"), source, .init(server: source.server, clients: [.user("0")]), renewing: nil, now()
        )
        for number in 1..<12 {
            let all = TokenLedger.Signers(server: source.server, clients: [.user("\(number - 1)"), .user("\(number)")])
            let key = try #require(ledger.find("r\(number - 1)", source, all))
            guard case .fetch(let fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
            ledger.learn(grant("a", refresh: "r\(number)"), source, all, renewing: (key: key, fetch: fetch), now())
        }
        #expect((0..<12).filter { ledger.learned(for: source, .user("\($0)")) != nil } == Array(4..<12))
        #expect(ledger.signedIn.count == 8)
    }

    /// What is gone leaves nothing behind.
    @Test mutating func whatIsGivenUpLeavesNothing() {
        let signers = TokenLedger.Signers(server: source.server, clients: [.user("ada"), .user("10.0.0.1")])
        for number in 0..<3 {
            ledger.learn(grant("a\(number)", refresh: "r\(number)"), source, signers, renewing: nil, now())
        }
        for number in 0..<3 {
            let isKnown = ledger.revoke("r\(number)", source, signers)
            #expect(isKnown)
        }
        #expect(ledger.chains.isEmpty && ledger.given.isEmpty && ledger.signedIn.isEmpty)
        #expect(ledger.logins.entries.isEmpty)
    }

    /// The token made room for others: its chain is forgotten where there are many, and those of others are not.
    @Test mutating func chainsWithoutATokenMakeRoom() throws {
        func signers(_ number: Int) -> TokenLedger.Signers {
            .init(server: source.server, clients: [.named(UInt128(number))])
        }
        for number in 0..<3 * TokenGrant.most {
            ledger.learn(grant("a", refresh: "r\(number)"), source, signers(number), renewing: nil, now(number))
        }
        #expect(ledger.chains.count <= 2 * TokenGrant.most && ledger.logins.entries.count <= TokenGrant.most)
        let last = 3 * TokenGrant.most - 1
        #expect(ledger.find("r\(last)", source, signers(last)) != nil)
        // one that is there is not forgotten with them
        let kept = ledger.chains.values.filter { ledger.logins.knows($0.key) }.count
        #expect(kept == ledger.logins.entries.count)
    }

    @Test mutating func resourcesThatRefuseAreRememberedSoFar() throws {
        let key = TokenKey(source)
        let fetch = try fetch(key)
        ledger.logins.won(grant("a", lasts: 10_000), key, fetch: fetch, now())
        for number in 0..<65 {
            let time = LoginTime(milliseconds: number, seconds: 1000)
            ledger.logins.fruitless(key, .init(generation: fetch, path: "/\(number)"), time)
        }
        guard case .failed = ask(key, not: fetch, for: "/1") else { return #expect(Bool(false)) }
        // the first of them is forgotten for the last
        guard case .fetch = ask(key, not: fetch, for: "/0") else { return #expect(Bool(false)) }
    }

    // MARK: ends

    /// Whoever renews it takes its time, and it ends meanwhile.
    @Test mutating func whatIsOverDoesNotGoAlongWhileAnotherIsFetched() throws {
        let key = TokenKey(source, .client(.user("ada"), session: 1))
        ledger.logins.won(grant("a", refresh: "r", lasts: 40), key, fetch: try fetch(key), now())
        guard case .fetch = ask(key, at: 25) else { return #expect(Bool(false)) }
        guard case .use(let session) = ask(key, at: 39), session.value.access == "a" else {
            return #expect(Bool(false), "it is about to end, and lasts")
        }
        guard case .wait = ask(key, at: 40) else { return #expect(Bool(false)) }
    }

    /// What was forgotten or made room is told to whoever keeps it.
    @Test mutating func whatGoesIsTold() throws {
        let key = TokenKey(source)
        ledger.noteChanges()
        ledger.logins.put(grant("a"), key, now())
        #expect(ledger.takeChanges().map(\.key) == [key])
        ledger.logins.forget { known, _ in known == key }
        #expect(ledger.takeChanges().map { $0.token == nil } == [true])
        let lost = TokenKey(source, .client(.user("ada"), session: 0))
        ledger.logins.put(grant("b"), lost, now())
        for number in 1...TokenGrant.most {
            ledger.logins.put(
                grant("c"), TokenKey(source, .client(.user("eve"), session: UInt128(number))), now(number))
        }
        let gone = ledger.takeChanges().filter { $0.token == nil }.map(\.key)
        #expect(!gone.isEmpty && gone.allSatisfy { !ledger.logins.knows($0) })
        #expect(gone.count + ledger.logins.entries.count == TokenGrant.most + 1)
    }

    /// However many others there are: who waits for it would begin once more.
    @Test mutating func whatIsBeingFetchedMakesNoRoom() throws {
        let keys = (0..<TokenGrant.mostUnderWay).map { TokenKey(source, .client(.user("ada"), session: UInt128($0))) }
        let fetches = try keys.map { try fetch($0) }
        for number in 0...TokenGrant.most {
            ledger.logins.put(
                grant("c"), TokenKey(source, .client(.user("eve"), session: UInt128(number))), now(number))
        }
        for (key, fetch) in zip(keys, fetches) {
            guard case .wait(let number) = ask(key) else { return #expect(Bool(false)) }
            #expect(number == fetch)
        }
    }

    /// Whoever made it is gone, and the call goes on: the others wait for that.
    @Test mutating func aFetchThatGoesOnIsWaitedFor() throws {
        let key = TokenKey(source)
        let number = try fetch(key)
        ledger.logins.goesOn(key, fetch: number, until: 100_000)
        guard case .wait = ask(key, at: 99) else { return #expect(Bool(false)) }
        guard case .fetch = ask(key, at: 101) else { return #expect(Bool(false)) }
    }

    // MARK: reloads

    /// It is by the newest words that a token is dealt with which was won before them.
    @Test(arguments: [
        (TokenSettings.Revocation.never, TokenSettings.Revocation.atEnd, 2), (.atEnd, .never, 0), (.atEnd, .atEnd, 2),
    ])
    mutating func revocationIsAskedForByTheNewestWords(
        _ before: TokenSettings.Revocation, _ after: TokenSettings.Revocation, _ count: Int
    ) {
        let old = Self.source { $0.revocation = before }
        let new = Self.source { $0.revocation = after }
        #expect(old == new)
        ledger.logins.put(grant("a"), TokenKey(old), now())
        let signers = TokenLedger.Signers(server: old.server, clients: [.user("ada")])
        ledger.learn(grant("b", refresh: "r"), old, signers, renewing: nil, now())
        let taken = ledger.takeRevocable(by: TokenPolicy([new]))
        #expect(taken.count == count && taken.allSatisfy { $0.source === new })
        #expect(ledger.logins.entries.count == 2 - count)
    }

    /// Its entry is there no more.
    @Test mutating func whatNobodySaysAnythingOfEndsAsItBegan() {
        let old = Self.source { $0.revocation = .atEnd }
        ledger.logins.put(grant("a"), TokenKey(old), now())
        ledger.logins.put(grant("b"), TokenKey(Self.source { $0.scope = "other" }), now())
        let taken = ledger.takeRevocable(by: nil)
        #expect(taken.map(\.grant.access) == ["a"] && ledger.logins.entries.count == 1)
    }

    /// A reload that shortens how long nobody tries again holds for what has failed since.
    @Test mutating func timesAreThoseOfWhoeverAsks() throws {
        let patient = TokenKey(Self.source { $0.coolDown = 100_000 })
        let hasty = TokenKey(Self.source { $0.coolDown = 1_000 })
        #expect(patient == hasty)
        ledger.logins.failed(
            LoginFault(reason: "no", isRefusal: true), hasty, fetch: try fetch(patient), now())
        guard case .failed = ask(patient, at: 0) else { return #expect(Bool(false)) }
        guard case .fetch = ask(patient, at: 2) else { return #expect(Bool(false)) }
    }
}
