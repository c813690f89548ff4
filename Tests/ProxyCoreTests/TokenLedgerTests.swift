import Authorization
import Interception
import Testing

@testable import ProxyCore

/// Tokens that were won, beside what holds for all shared logins.
@Suite struct TokenLedgerTests {
    private var ledger = TokenLedger()
    private let source = Self.source { _ in }

    private static func source(_ change: (inout TokenSettings) -> Void) -> TokenSource {
        let server = AuthorizationServer(url: "https://am.test/am", host: "am.test")
        var settings = TokenSettings(resources: ["https://api.test/*"], manner: .learned, server: server)
        change(&settings)
        return TokenSource(settings)
    }

    private func now(_ seconds: Int = 0) -> LoginTime { .init(milliseconds: seconds * 1000, seconds: 1000 + seconds) }

    private func grant(_ access: String, refresh: String? = "r", client: String = "shop", lasts seconds: Int = 60)
        -> TokenGrant
    {
        var grant = TokenGrant(access: access, refresh: refresh, expires: 1000 + seconds, origin: .learned)
        grant.lifetime = seconds
        grant.client = OAuthClient(id: client)
        return grant
    }

    private func signers(_ users: [String]) -> TokenLedger.Signers {
        .init(server: source.server, clients: users.map { .user($0) })
    }

    private mutating func signIn(_ grant: TokenGrant, _ users: String..., at seconds: Int = 0) {
        ledger.learn(grant, source, signers(users), renewing: nil, now(seconds))
    }

    private mutating func ask(
        _ user: String = "ada", at seconds: Int = 0, not generation: Int? = nil, _ source: TokenSource? = nil
    ) -> String {
        guard let key = ledger.learned(for: source ?? self.source, .user(user)) else { return "nothing" }
        let refusal = generation.map { CredentialLedger<TokenGrant>.Refusal(generation: $0, path: "/") }
        return switch ledger.logins.ask(key, after: refusal, waited: nil, now(seconds)) {
        case .use(let session): "use \(session.value.access)"
        case .fetch: "log in"
        case .wait: "wait"
        case .failed(let fault): fault.reason
        case .full: "full"
        }
    }

    private func found(_ token: String, _ user: String = "ada") -> String? {
        ledger.find(token, source, signers([user])).flatMap { ledger.logins.last($0)?.refresh }
    }

    /// Usher renews it.
    private mutating func renew(_ new: TokenGrant, _ user: String = "ada") throws {
        let key = try #require(ledger.learned(for: source, .user(user)))
        guard case .fetch(let fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
        let isWon = ledger.logins.won(new, key, fetch: fetch, now())
        #expect(isWon)
    }

    @Test mutating func eachClientHasItsOwn() {
        signIn(grant("a"), "ada")
        signIn(grant("b", refresh: "s"), "bob")
        #expect(ask("ada") == "use a" && ask("bob") == "use b" && ask("eve") == "nothing")
    }

    /// A client that entries tell from others by several things is one.
    @Test mutating func whatIsLearnedIsKeptOnce() throws {
        signIn(grant("a"), "ada", "10.0.0.1")
        try renew(grant("b", refresh: "r2"), "10.0.0.1")
        #expect(ask("ada") == "use b" && ask("10.0.0.1") == "use b" && found("r") == "r2")
    }

    @Test mutating func entriesTakeWhatSuitsThem() {
        signIn(grant("a"), "ada")
        signIn(grant("b", refresh: "s", client: "other"), "ada")
        let shop = Self.source { $0.client = OAuthClient(id: "shop") }
        #expect(ask() == "use b" && ask("ada", shop) == "use a")
    }

    @Test mutating func whatIsDueIsRenewedByOneWhileTheOthersUseIt() {
        signIn(grant("a"), "ada")
        #expect(ask(at: 29) == "use a" && ask(at: 30) == "log in" && ask(at: 30) == "use a")
    }

    /// What nobody could renew goes along to its end.
    @Test mutating func withoutARefreshTokenNothingIsDue() {
        signIn(grant("a", refresh: nil), "ada")
        #expect(ask(at: 59) == "use a" && ask(at: 60) == "log in")
    }

    @Test mutating func aRefusedOneIsRenewed() {
        signIn(grant("a"), "ada")
        #expect(ask(not: 1) == "log in" && found("r") == "r")
    }

    // MARK: what clients come with

    @Test mutating func whatWasSpentLeadsToTheNewestHoweverOftenItWasRenewed() throws {
        signIn(grant("a0", refresh: "r0"), "ada")
        for number in 1...50 { try renew(grant("a\(number)", refresh: "r\(number)")) }
        #expect(found("r0") == "r50" && found("r0", "eve") == nil && found("r1") == nil)
    }

    @Test mutating func anotherSignInLeavesWhatWasSpentBefore() throws {
        signIn(grant("a", refresh: "r1"), "ada")
        try renew(grant("b", refresh: "r2"))
        for number in 0..<15 { signIn(grant("c", refresh: "s\(number)"), "ada") }
        #expect(found("r1") == "r2" && ask() == "use c")
        signIn(grant("c", refresh: "s15"), "ada")
        #expect(found("r1") == nil, "so many are kept of one client")
    }

    @Test mutating func aClientThatRenewsGoesOnWithTheSame() throws {
        signIn(grant("a", refresh: "r1"), "ada")
        try renew(grant("b", refresh: "r2"))
        signIn(grant("x", refresh: "s1"), "ada")
        let key = try #require(ledger.find("r1", source, signers(["ada"])))
        guard case .fetch(let fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
        #expect(ask() == "use x")
        ledger.learn(grant("c", refresh: "r3"), source, signers(["ada"]), renewing: (key, fetch), now())
        #expect(found("r1") == "r3" && found("r3") == "r3" && ask() == "use c")
    }

    @Test mutating func oneAtATimeRenews() throws {
        signIn(grant("a"), "ada")
        let key = try #require(ledger.find("r", source, signers(["ada"])))
        guard case .fetch(let fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
        #expect(ask(not: 1) == "wait")
        guard case .wait(fetch) = ledger.logins.claim(key, now()) else { return #expect(Bool(false)) }
    }

    // MARK: the end

    private mutating func revoke(_ token: String, _ user: String) -> Bool {
        ledger.revoke(token, source, signers([user]))
    }

    private mutating func signOut(_ user: String) -> Bool { ledger.signOut(signers([user])) }

    @Test mutating func whatIsGivenUpIsGone() throws {
        signIn(grant("a", refresh: "r1"), "ada")
        signIn(grant("b", refresh: "s1"), "bob")
        try renew(grant("c", refresh: "r2"))
        #expect(!revoke("r1", "bob"))
        #expect(revoke("r1", "ada"))
        #expect(ask("ada") == "nothing" && ask("bob") == "use b" && found("r1") == nil)
        #expect(revoke("b", "bob") && ask("bob") == "nothing")
    }

    @Test mutating func whoSignsOutKeepsWhatWasSpentInItsName() throws {
        signIn(grant("a", refresh: "r1"), "ada")
        try renew(grant("b", refresh: "r2"))
        signIn(grant("c", refresh: "s1"), "ada")
        #expect(signOut("ada") && ask() == "nothing")
        #expect(found("r1") == "r2" && found("s1") == nil)
        #expect(!signOut("ada"))
    }

    /// Where one entry goes by the address that both have.
    @Test mutating func whoSignsOutTakesNothingFromWhoIsToldFromIt() {
        signIn(grant("a"), "10.0.0.1", "ada")
        let isOut = ledger.signOut(signers(["10.0.0.1", "bob"]))
        #expect(isOut && ask("10.0.0.1") == "nothing" && ask("ada") == "use a")
    }

    @Test mutating func aFetchUnderWayIsNobodysAfterALogout() {
        let code = Self.source { $0.manner = .code }
        let key = TokenKey(code, .client(.user("ada"), session: 1))
        guard case .fetch(let fetch) = ledger.logins.ask(key, after: nil, waited: nil, now()) else {
            return #expect(Bool(false))
        }
        ledger.logins.forget { one, grant in one == key && grant == nil }
        let isWon = ledger.logins.won(grant("late"), key, fetch: fetch, now())
        #expect(!isWon && ledger.logins.last(key) == nil)
    }

    // MARK: room

    /// It comes to nothing.
    private mutating func fetch(_ key: TokenKey, at time: Int) {
        let now = LoginTime(milliseconds: time, seconds: 1000)
        guard case .fetch(let fetch) = ledger.logins.ask(key, after: nil, waited: nil, now) else {
            return #expect(Bool(false))
        }
        ledger.logins.failed(LoginFault(reason: "no", isRefusal: true), key, fetch: fetch, now)
    }

    /// Sessions can be made up, and none of them wins anything.
    @Test mutating func whatNothingCameOfMakesRoomFirst() {
        signIn(grant("a"), "ada")
        let source = Self.source { $0.manner = .code }
        for number in 0...TokenGrant.most + 300 {
            fetch(TokenKey(source, .client(.user("eve"), session: UInt128(number))), at: 1 + number)
        }
        #expect(ask() == "use a")
    }

    @Test mutating func whoHasMostMakesRoom() {
        signIn(grant("a"), "ada")
        let source = Self.source { $0.manner = .code }
        for number in 0...TokenGrant.most + 300 {
            ledger.logins.put(grant("e"), TokenKey(source, .client(.user("eve"), session: UInt128(number))), now(1))
        }
        #expect(ask() == "use a")
    }

    @Test mutating func oneClientHasSoManyUnderWay() {
        let source = Self.source { $0.manner = .code }
        var fetches: [Int] = []
        func key(_ number: Int, _ user: String = "eve") -> TokenKey {
            TokenKey(source, .client(.user(user), session: UInt128(number)))
        }
        for number in 0..<TokenGrant.mostUnderWay {
            guard case .fetch(let fetch) = ledger.logins.ask(key(number), after: nil, waited: nil, now()) else {
                return #expect(Bool(false))
            }
            fetches.append(fetch)
        }
        guard case .wait(let waited) = ledger.logins.ask(key(100), after: nil, waited: nil, now()) else {
            return #expect(Bool(false))
        }
        guard case .fetch = ledger.logins.ask(key(1, "ada"), after: nil, waited: nil, now()) else {
            return #expect(Bool(false))
        }
        ledger.logins.abandoned(key(3), fetch: fetches[3])
        guard case .fetch = ledger.logins.ask(key(100), after: nil, waited: waited, now()) else {
            return #expect(Bool(false))
        }
    }
}
