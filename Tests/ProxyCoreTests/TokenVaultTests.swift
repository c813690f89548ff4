import Addresses
import Interception
import TLSEngine
import Testing

@testable import Authorization
@testable import ProxyCore

@Suite("Tokens that persist over restarts")
struct TokenVaultTests {
    private final class Documents: StateStore, @unchecked Sendable {
        var values: [StateKey: [UInt8]] = [:]
        func value(of key: StateKey) -> [UInt8]? { values[key] }
        func documents(in space: StateSpace) -> [String: [UInt8]] {
            Dictionary(uniqueKeysWithValues: values.filter { $0.key.space == space }.map { ($0.key.name, $0.value) })
        }
        func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
            body(&values[key])
            return true
        }
    }

    private let documents = Documents()

    private static func source(
        _ resource: String = "https://api.example.com/*", keeping: TokenSettings.Keeping = .sealed,
        manner: TokenSettings.Manner = .clientCredentials
    ) -> TokenSource {
        var settings = TokenSettings(
            resources: [resource], manner: manner,
            server: AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com"))
        settings.keeping = keeping
        return TokenSource(settings)
    }

    private func opened(
        _ sources: [TokenSource], _ secret: String = String(repeating: "k", count: 32)
    ) throws -> TokenVault {
        var bytes = Array(secret.utf8)
        return try #require(TokenVault(documents, secret: SecretBytes(taking: &bytes), TokenPolicy(sources)))
    }

    private static func now(_ seconds: Int = 0) -> LoginTime { .init(milliseconds: seconds * 1000, seconds: seconds) }

    private static func grant() throws -> TokenGrant {
        var grant = TokenGrant(access: "a1", refresh: "r1", expires: 5_000, origin: .refreshed)
        grant.lifetime = 600
        grant.realm = "/alpha"
        grant.client = OAuthClient(id: "shop", secret: "s&cret\u{301}", authentication: .basic)
        grant.key = try PrivateKey.makeP256()
        return grant
    }

    /// A ledger whose every change a vault keeps.
    private struct Kept {
        var ledger = TokenLedger()
        let vault: TokenVault
        var found = TokenVault.Found()

        init(_ vault: TokenVault, at seconds: Int = 0) {
            self.vault = vault
            found = vault.restore(into: &ledger, TokenVaultTests.now(seconds))
            ledger.noteChanges()
        }

        mutating func change<Result>(at seconds: Int = 0, _ body: (inout TokenLedger) throws -> Result) rethrows
            -> Result
        {
            let result = try body(&ledger)
            for one in ledger.takeChanges() { vault.keep(one.token, one.key, at: seconds) }
            return result
        }

        mutating func put(_ grant: TokenGrant, _ key: TokenKey) {
            change { $0.logins.put(grant, key, TokenVaultTests.now()) }
        }
        func access(_ key: TokenKey) -> String? { ledger.logins.last(key)?.access }
    }

    @Test func allOfItComesBack() throws {
        let source = Self.source()
        let grant = try Self.grant()
        let clients: [TokenClient] = [
            .user("ada \u{301}"), .named(1 << 127), .address(try #require(IPAddress("2001:db8::1"))),
        ]
        let keys = [TokenKey(source)] + clients.map { TokenKey(source, .client($0, session: .max)) }
        var first = Kept(try opened([source]))
        for key in keys { first.put(grant, key) }
        #expect(documents.values.count == 4)
        let second = Kept(try opened([source]))
        #expect(second.found.restored == 4 && second.found.foreign + second.found.damaged + second.found.unclaimed == 0)
        for key in keys {
            let back = try #require(second.ledger.logins.last(key))
            #expect(back.access == "a1" && back.refresh == "r1" && back.expires == 5_000 && back.lifetime == 600)
            #expect(back.origin == .refreshed && back.realm == "/alpha" && back.client == grant.client)
            #expect(back.key?.publicPoint == grant.key?.publicPoint && back.key != nil)
        }
    }

    // MARK: what clients were granted themselves

    private func signers(_ source: TokenSource, _ users: String...) -> TokenLedger.Signers {
        .init(server: source.server, clients: users.map { .user($0) })
    }

    private func grant(_ number: Int) -> TokenGrant {
        var grant = TokenGrant(access: "a\(number)", refresh: "r\(number)", expires: 100, origin: .learned)
        grant.client = OAuthClient(id: "shop")
        return grant
    }

    @Test func whatAClientWasGrantedIsItsOwnOverRestarts() throws {
        let source = Self.source(manner: .learned)
        var first = Kept(try opened([source]))
        for (number, user) in ["ada", "bob"].enumerated() {
            first.change { $0.learn(grant(number), source, signers(source, user), renewing: nil, Self.now()) }
        }
        // renewed in her name
        try first.change(at: 1) { ledger in
            let key = try #require(ledger.learned(for: source, .user("ada")))
            guard case .fetch(let fetch) = ledger.logins.claim(key, Self.now()) else { return #expect(Bool(false)) }
            let isWon = ledger.logins.won(grant(7), key, fetch: fetch, Self.now())
            #expect(isWon)
        }
        #expect(documents.values.count == 2)
        var second = Kept(try opened([source]))
        func goesAlong(_ user: String) -> String? {
            second.ledger.learned(for: source, .user(user)).flatMap { second.access($0) }
        }
        #expect(goesAlong("ada") == "a7" && goesAlong("bob") == "a1" && goesAlong("eve") == nil)
        // what she was given leads to what came of it, and nobody else's does
        let found = second.ledger.find("r0", source, signers(source, "ada"))
        #expect(found.flatMap { second.ledger.logins.last($0)?.refresh } == "r7")
        #expect(second.ledger.find("r0", source, signers(source, "bob")) == nil)
        // one that comes new takes nobody's place
        second.change { $0.learn(grant(8), source, signers(source, "eve"), renewing: nil, Self.now()) }
        let again = Kept(try opened([source])).found
        #expect(documents.values.count == 3 && again.restored == 3)
        // who signs out has nothing that goes along after the next restart either
        _ = second.change { $0.signOut(signers(source, "ada")) }
        _ = second.change { $0.signOut(signers(source, "bob")) }
        let third = Kept(try opened([source])).ledger
        #expect(third.learned(for: source, .user("ada")) == nil && third.learned(for: source, .user("bob")) == nil)
        #expect(third.find("r0", source, signers(source, "ada")) != nil)
        #expect(third.find("r1", source, signers(source, "bob")) == nil)
    }

    @Test func whatSuitsSeveralEntriesIsKeptWhereOneOfThemAsksForIt() throws {
        let memory = Self.source(keeping: .memory, manner: .learned)
        let sealed = Self.source("https://b.example.com/*", manner: .learned)
        var first = Kept(try opened([memory, sealed]))
        first.change { $0.learn(grant(1), memory, signers(memory, "ada"), renewing: nil, Self.now()) }
        let second = Kept(try opened([memory, sealed])).ledger
        #expect(second.learned(for: sealed, .user("ada")) != nil && second.learned(for: memory, .user("ada")) != nil)
        // the entry is another one, and the grant the same
        let changed = Self.source("https://c.example.com/*", manner: .learned)
        #expect(Kept(try opened([changed])).ledger.learned(for: changed, .user("ada")) != nil)
    }

    // MARK: the documents

    @Test func nothingOfItCanBeRead() throws {
        let source = Self.source()
        var kept = Kept(try opened([source]))
        kept.put(try Self.grant(), TokenKey(source, .client(.user("ada"), session: 5)))
        let (name, value) = try #require(documents.values.first)
        // two letters turn up by chance
        for secret in ["shop", "ada", "alpha", "s&cret"] {
            #expect(!String(decoding: value, as: UTF8.self).contains(secret) && !name.name.hasSuffix(secret))
        }
    }

    @Test func whatIsOverIsRemoved() throws {
        let source = Self.source()
        let key = TokenKey(source)
        var kept = Kept(try opened([source]))
        kept.put(try Self.grant(), key)
        kept.change { $0.logins.forget(key) }
        #expect(documents.values.isEmpty)
        // an access token alone, and its time is over
        kept.put(TokenGrant(access: "a2", expires: 100), key)
        #expect(Kept(try opened([source]), at: 99).found.restored == 1)
        let late = Kept(try opened([source]), at: 100).found
        #expect(late.restored == 0 && documents.values.isEmpty)
        // one that makes room for another
        for number in 0..<2 * TokenGrant.most {
            kept.put(TokenGrant(access: "b"), TokenKey(source, .client(.named(UInt128(number)), session: 0)))
        }
        #expect(documents.values.count <= TokenGrant.most)
    }

    @Test func anotherKeyOpensNothingAndLosesNothing() throws {
        let source = Self.source()
        let key = TokenKey(source)
        var first = Kept(try opened([source]))
        first.put(TokenGrant(access: "a1"), key)
        var other = Kept(try opened([source], String(repeating: "o", count: 32)))
        #expect(other.found.restored == 0 && other.found.foreign == 1 && other.found.damaged == 0)
        other.put(TokenGrant(access: "a2"), key)
        #expect(documents.values.count == 2)
        #expect(Kept(try opened([source])).access(key) == "a1")
    }

    @Test func anotherKeyTakesOverAlsoWhatIsOfAnEntryThatIsGone() throws {
        let (source, gone) = (Self.source(), Self.source("https://other.example.com/*"))
        var first = Kept(try opened([source, gone]))
        first.put(TokenGrant(access: "a1"), TokenKey(source))
        first.put(TokenGrant(access: "a2"), TokenKey(gone))
        let new = try opened([source], String(repeating: "o", count: 32))
        new.takeOver(from: first.vault)
        #expect(documents.values.count == 2)
        #expect(Kept(first.vault).found.restored == 0)
        let found = Kept(new)
        #expect(found.access(TokenKey(source)) == "a1" && found.found.unclaimed == 1)
        #expect(Kept(try opened([gone], String(repeating: "o", count: 32))).access(TokenKey(gone)) == "a2")
    }

    @Test func whatIsDamagedOrInAnothersPlaceIsLeft() throws {
        let source = Self.source()
        var kept = Kept(try opened([source]))
        kept.put(TokenGrant(access: "a1"), TokenKey(source))
        kept.put(TokenGrant(access: "a2"), TokenKey(source, .client(.user("ada"), session: 1)))
        let names = documents.values.keys.map(\.self)
        documents.values[names[0]] = documents.values[names[1]]
        documents.values[names[1]]?[20] ^= 1
        let found = Kept(kept.vault).found
        #expect(found.restored == 0 && found.damaged == 2 && documents.values.count == 2)
    }

    @Test func thoseOfAnEntryThatIsGoneWaitForIt() throws {
        let (source, other) = (Self.source(), Self.source("https://other.example.com/*"))
        var kept = Kept(try opened([source]))
        kept.put(TokenGrant(access: "a1"), TokenKey(source))
        let gone = try opened([other])
        #expect(Kept(gone, at: TokenVault.unclaimedLife - 1).found.unclaimed == 1)
        #expect(Kept(try opened([source])).found.restored == 1)
        #expect(Kept(gone, at: TokenVault.unclaimedLife).found.unclaimed == 0 && documents.values.isEmpty)
    }

    @Test func thoseThatAreForMemoryAloneAreNotKept() throws {
        let source = Self.source(keeping: .memory)
        var kept = Kept(try opened([source]))
        kept.put(TokenGrant(access: "a1"), TokenKey(source))
        #expect(documents.values.isEmpty)
        // it was for more before
        var before = Kept(try opened([Self.source()]))
        before.put(TokenGrant(access: "a1"), TokenKey(Self.source()))
        #expect(documents.values.count == 1)
        kept.put(TokenGrant(access: "a2"), TokenKey(source))
        #expect(documents.values.isEmpty)
    }

    @Test func aKeyIsLongAndItsLastLineMayEnd() throws {
        for secret in ["", String(repeating: "k", count: 31)] {
            var bytes = Array(secret.utf8)
            #expect(TokenVault(documents, secret: SecretBytes(taking: &bytes), nil) == nil)
        }
        let secret = String(repeating: "k", count: 32)
        #expect(try opened([], secret).isLike(opened([], secret + "\r\n")))
        #expect(try !opened([], secret).isLike(opened([], secret + "k")))
    }
}
