import Authorization
import Interception
import TLSEngine
import Testing

@testable import ProxyCore

/// Tokens that come back into a process which has some by then, and those that a client's sign-out is about.
@Suite("Restored tokens beside current ones")
struct TokenRestartTests {
    private final class Documents: StateStore, @unchecked Sendable {
        // one test's thread alone uses it
        var values: [StateKey: [UInt8]] = [:]
        var isFull = false

        func value(of key: StateKey) -> [UInt8]? { values[key] }
        func documents(in space: StateSpace) -> [String: [UInt8]] {
            Dictionary(uniqueKeysWithValues: values.filter { $0.key.space == space }.map { ($0.key.name, $0.value) })
        }
        func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
            var value = values[key]
            body(&value)
            guard !isFull || value == nil else { return false }
            values[key] = value
            return true
        }
    }

    private let documents = Documents()
    private var ledger = TokenLedger()
    private let source = Self.source()
    private static let now = LoginTime(milliseconds: 0, seconds: 0)

    private static func source(_ manner: TokenSettings.Manner = .learned, scope: String? = nil) -> TokenSource {
        var settings = TokenSettings(
            resources: ["https://api.test/*"], manner: manner,
            server: AuthorizationServer(url: "https://am.test/am", host: "am.test"))
        settings.keeping = .sealed
        settings.scope = scope
        return TokenSource(settings)
    }

    private func vault(_ sources: [TokenSource]) throws -> TokenVault {
        var secret = [UInt8](repeating: 0x6B, count: TokenVault.leastKey)
        return try #require(TokenVault(documents, secret: SecretBytes(taking: &secret), TokenPolicy(sources)))
    }

    private func signers(_ users: String...) -> TokenLedger.Signers {
        .init(server: source.server, clients: users.map { .user($0) })
    }

    private func grant(_ name: String, refresh: String? = nil) -> TokenGrant {
        TokenGrant(access: name, refresh: refresh ?? "r-\(name)", expires: 100, origin: .learned)
    }

    /// What a client was granted in an earlier run.
    private func keepBefore(_ name: String, _ user: String, page: String = "") throws {
        var before = TokenLedger()
        before.noteChanges()
        before.learn(grant(name), source, signers(user), page: page, renewing: nil, Self.now)
        let vault = try vault([source])
        for one in before.takeChanges() { vault.keep(one.token, one.key, at: 0) }
    }

    private func goesAlong(_ user: String, _ page: String = "") -> String? {
        ledger.learned(for: source, .user(user), winners: [page]).flatMap { ledger.logins.last($0)?.access }
    }

    private func found(_ refresh: String, _ user: String) -> String? {
        ledger.find(refresh, source, signers(user)).flatMap { ledger.logins.last($0)?.access }
    }

    @Test mutating func aSignInOfThisRunKeepsItsPlace() throws {
        try keepBefore("old", "ada")
        ledger.learn(grant("new"), source, signers("bob"), renewing: nil, Self.now)
        let restored = try vault([source]).restore(into: &ledger, Self.now).restored
        #expect(restored == 1 && goesAlong("ada") == "old" && goesAlong("bob") == "new")
        #expect(found("r-old", "ada") == "old" && found("r-new", "bob") == "new" && found("r-old", "bob") == nil)
        #expect(ledger.chains.count == 2)
        // and the next one has another number still
        ledger.learn(grant("last"), source, signers("eve"), renewing: nil, Self.now)
        #expect(goesAlong("ada") == "old" && goesAlong("eve") == "last" && ledger.chains.count == 3)
    }

    @Test mutating func whatComesBackTwiceIsThereOnce() throws {
        try keepBefore("old", "ada")
        for _ in 0..<2 { _ = try vault([source]).restore(into: &ledger, Self.now) }
        #expect(ledger.chains.count == 1 && ledger.logins.entries.count == 1 && goesAlong("ada") == "old")
        // what was renewed since is not put back to what it was
        let key = try #require(ledger.learned(for: source, .user("ada")))
        guard case .fetch(let fetch) = ledger.logins.claim(key, Self.now) else { return #expect(Bool(false)) }
        ledger.logins.won(grant("newer"), key, fetch: fetch, Self.now)
        _ = try vault([source]).restore(into: &ledger, Self.now)
        #expect(goesAlong("ada") == "newer" && ledger.chains.count == 1)
    }

    @Test mutating func thePageThatWonItHasItStill() throws {
        try keepBefore("of the page", "ada", page: "https://a.test:443")
        _ = try vault([source]).restore(into: &ledger, Self.now)
        #expect(goesAlong("ada", "https://a.test:443") == "of the page")
        #expect(goesAlong("ada") == nil && goesAlong("ada", "https://b.test:443") == nil)
    }

    /// Each has a place of its own on the disk, by everything that tells it from others.
    @Test func eachHasItsOwnDocument() throws {
        let (one, other) = (Self.source(.code), Self.source(.code, scope: "other"))
        let keys = [
            TokenKey(one, .client(.user("ada"), session: 1)), TokenKey(one, .client(.user("ada"), session: 2)),
            TokenKey(one, .client(.user("bob"), session: 1)), TokenKey(other, .client(.user("ada"), session: 1)),
            TokenKey(one), TokenKey(other),
        ]
        var first = TokenLedger()
        first.noteChanges()
        for (place, key) in keys.enumerated() { first.logins.put(grant("\(place)"), key, Self.now) }
        let vault = try vault([one, other])
        for one in first.takeChanges() { vault.keep(one.token, one.key, at: 0) }
        #expect(documents.values.count == keys.count)
        var second = TokenLedger()
        _ = vault.restore(into: &second, Self.now)
        for (place, key) in keys.enumerated() { #expect(second.logins.last(key)?.access == "\(place)") }
    }

    /// The one before it is spent: better none than that one.
    @Test func whereThereIsNoRoomWhatIsSpentGoes() throws {
        let key = TokenKey(Self.source(.clientCredentials))
        let vault = try vault([key.source])
        func keep(_ name: String) {
            var ledger = TokenLedger()
            ledger.noteChanges()
            ledger.logins.put(grant(name), key, Self.now)
            for one in ledger.takeChanges() { vault.keep(one.token, one.key, at: 0) }
        }
        keep("a")
        #expect(documents.values.count == 1)
        documents.isFull = true
        keep("b")
        #expect(documents.values.isEmpty)
    }

    // MARK: sign-outs

    /// One client that entries tell apart by two things, of which another client has one.
    @Test mutating func whatSomebodyElseHasIsNotRevokedWithIt() {
        ledger.learn(grant("shared"), source, signers("ada", "10.0.0.1"), renewing: nil, Self.now)
        ledger.learn(grant("own"), source, signers("ada"), renewing: nil, Self.now)
        let ofOne = ledger.signedIn(source, signers("ada"))
        #expect(ofOne.map(\.grant.access) == ["own"])
        let ofBoth = ledger.signedIn(source, signers("ada", "10.0.0.1"))
        #expect(Set(ofBoth.map(\.grant.access)) == ["own", "shared"])
        // who has left has no part in it any more
        let isSignedOut = ledger.signOut(signers("10.0.0.1"))
        #expect(isSignedOut && goesAlong("ada") == "own")
        #expect(Set(ledger.signedIn(source, signers("ada")).map(\.grant.access)) == ["own", "shared"])
    }
}
