import HTTPCodec
import Interception
import TLSEngine
import Testing

@testable import Authorization

/// What tells one thing that is shared from another: each part of every key counts by itself.
@Suite("What things that are shared are told apart by")
struct SharedKeyTests {
    private typealias Change<Value> = (inout Value) -> Void

    /// The texts of the plain one, and of those that differ in one part.
    private func materials<Value, Key: Equatable>(
        _ plain: Value, _ changes: [Change<Value>], _ key: (Value) -> Key
    ) -> (plain: Key, others: [Key]) {
        (
            key(plain),
            changes.map { change in
                var other = plain
                change(&other)
                return key(other)
            }
        )
    }

    private func expectAllApart<Value, Key: Equatable>(
        _ plain: Value, _ changes: [Change<Value>], _ key: @escaping (Value) -> Key
    ) {
        let (first, others) = materials(plain, changes, key)
        for (place, other) in others.enumerated() { #expect(other != first, "change \(place)") }
    }

    // MARK: tokens

    private static func settings(_ manner: TokenSettings.Manner) -> TokenSettings {
        var settings = TokenSettings(
            resources: ["https://api.test/*"], manner: manner,
            server: AuthorizationServer(url: "https://am.test/am", host: "am.test", realms: ["/alpha", "/beta"]))
        settings.client = OAuthClient(id: "shop", secret: "s", authentication: .basic)
        settings.scope = "read"
        settings.redirectURI = "https://app.test/callback"
        return settings
    }

    @Test(arguments: TokenSettings.Manner.allCases)
    func everyPartOfAnEntryOfTokens(_ manner: TokenSettings.Manner) {
        let plain = Self.settings(manner)
        expectAllApart(
            plain,
            [
                { $0.manner = manner == .code ? .learned : .code }, { $0.server.url += "2" },
                { $0.server.cookie += "2" }, { $0.realm = "/beta" }, { $0.client = nil },
                { $0.client?.id += "2" }, { $0.client?.secret = "t" }, { $0.client?.secret = nil },
                { $0.client?.authentication = .post }, { $0.scope = "write" }, { $0.scope = nil },
                { $0.redirectURI += "2" }, { $0.naming = .proxyUser }, { $0.naming = .header("X-Client") },
                { $0.isProven = true }, { $0.resources = ["https://b.test/*"] },
                { $0.resources.append("https://b.test/*") },
            ]
        ) { TokenSource($0).identity }
        // what says how it is dealt with and not what it is
        for change: Change<TokenSettings> in [
            { $0.hold = 1 }, { $0.coolDown = 1 }, { $0.refreshBefore = 1 }, { $0.keeping = .sealed },
            { $0.revocation = .atEnd },
        ] {
            var other = plain
            change(&other)
            #expect(TokenSource(other).identity == TokenSource(plain).identity)
        }
    }

    /// The realm of an entry that names none is the server's first; what is learned may be of any.
    @Test func theRealmThatAnEntryDoesNotName() {
        for (manner, isApart) in [(TokenSettings.Manner.clientCredentials, true), (.code, true), (.learned, false)] {
            let plain = Self.settings(manner)
            var other = plain
            other.server.realms = ["/beta", "/alpha"]
            var named = plain
            named.realm = "/alpha"
            #expect((TokenSource(other).identity != TokenSource(plain).identity) == isApart, "\(manner)")
            #expect((TokenSource(named).identity == TokenSource(plain).identity) == isApart, "\(manner)")
        }
    }

    @Test func whoseGrantAnEntryTakes() {
        var settings = Self.settings(.learned)
        settings.realm = "/alpha"
        let source = TokenSource(settings)
        var grant = TokenGrant(access: "a", refresh: nil, expires: nil, origin: .learned)
        grant.client = OAuthClient(id: "shop")
        #expect(source.takes(grant))
        grant.realm = "/Alpha/"
        #expect(source.takes(grant))
        grant.realm = "/beta"
        #expect(!source.takes(grant))
        grant.realm = nil
        grant.client = OAuthClient(id: "other")
        #expect(!source.takes(grant))
        grant.client = nil
        #expect(!source.takes(grant))
    }

    // MARK: sessions

    @Test func everyPartOfALoginOfUshersOwn() {
        var plain = policy()
        plain.sessions.source = .login
        plain.sessions.login.realm = "/alpha"
        plain.sessions.login.answers = [
            .init(callback: "NameCallback", response: .value("robot")),
            .init(callback: "PasswordCallback", response: .value("secret")),
        ]
        expectAllApart(
            plain,
            [
                { $0.server.url += "2" }, { $0.sessions.login.realm = "/" }, { $0.sessions.login.tree = "Robot" },
                { $0.sessions.login.user = "robot" }, { $0.sessions.login.answers.removeLast() },
                { $0.sessions.login.answers[1].response = .value("changed") },
                { $0.sessions.login.answers[1].prompt = "Password*" },
            ]
        ) { $0.loginMaterial }
    }

    @Test func everyPartOfAClientWhoseSessionIsLearned() {
        let plain = LearnedClient(owner: "user ada", name: "tablet")
        let server = "https://am.test/am"
        let others = [
            plain.material(at: "https://am.test/am2"),
            LearnedClient(owner: "user bob", name: "tablet").material(at: server),
            LearnedClient(owner: "user ada", name: "phone").material(at: server),
            LearnedClient(owner: "user ada").material(at: server),
            LearnedClient(owner: "user adat", name: "ablet").material(at: server),
        ]
        for (place, other) in others.enumerated() { #expect(other != plain.material(at: server), "\(place)") }
        // its pages are known beside it, and its room is its owner's
        let page = plain.at("https://shop.test:443")
        #expect(page.material(at: server) == plain.material(at: server))
        #expect(page.pageMaterial != plain.pageMaterial)
        #expect(page.pageMaterial != plain.at("https://shop.test:8443").pageMaterial)
        #expect(plain.ownerMaterial == LearnedClient(owner: "user ada").ownerMaterial)
        #expect(plain.ownerMaterial != LearnedClient(owner: "user bob", name: "tablet").ownerMaterial)
    }

    @Test func pagesOfOneClientHaveTheirOwnAndLeaveTogether() {
        var learned = LearnedSessions()
        func session(_ token: String) -> LearnedSessions.News { .session(.init(token: token, carrier: .provided)) }
        let keys = (0..<3).map { LearnedSessions.Key(client: 1, owner: 1, page: $0) }
        let other = LearnedSessions.Key(client: 2, owner: 1, page: 1)
        for (place, key) in (keys + [other]).enumerated() { learned.learn(session("S\(place)"), key, for: 100, now: 0) }
        var found = keys.map { learned.find($0, now: 1)?.session?.token }
        #expect(found == ["S0", "S1", "S2"])
        learned.forget(keys[1])
        found = keys.map { learned.find($0, now: 1)?.session?.token }
        let left = learned.find(other, now: 1)?.session?.token
        #expect(found == [nil, nil, nil] && left == "S3")
    }

    // MARK: upgrades

    @Test func everyPartOfAnUpgrade() throws {
        func material(
            _ advice: Advice = StepUpTests.upgrade, client: String = "client 192.0.2.1", session: String = "SESSION",
            realm: String = "/", _ change: (inout AuthorizationPolicy) -> Void = { _ in }
        ) -> [UInt8]? {
            var policy = policy()
            policy.answers = [.init(callback: "PasswordCallback", response: .value("secret"))]
            change(&policy)
            return StepUp(policy: policy, advice: advice, session: session, realm: realm)
                .sharedMaterial(client: client)
        }
        let plain = try #require(material())
        #expect(material() == plain)
        let other = Advice(
            source: .header, realm: "/", conditions: [.init("AuthenticateToServiceConditionAdvice", ["/:Other"])])
        let apart = [
            material(other), material(client: "client 192.0.2.2"), material(client: ""), material(session: "OTHER"),
            material(realm: "/alpha"), material { $0.server.url += "2" },
            material { $0.answers[0].response = .value("changed") },
        ]
        for (place, other) in apart.enumerated() { #expect(other != nil && other != plain, "\(place)") }
    }

    @Test func everyPartOfTheMarkOfASession() {
        func mark(_ session: String = "S", _ client: String = "ada", _ server: String = "https://am.test/am") -> Int {
            SharedUpgrade.mark(of: session, for: client, at: server)
        }
        let plain = mark()
        #expect(mark() == plain)
        for other in [mark("T"), mark("S", "bob"), mark("S", ""), mark("S", "ada", "https://am.test/am2")] {
            #expect(other != plain)
        }
        let upgrade = SharedUpgrade(StepUp.Outcome(session: "NEW"), of: "S", mark: plain, now: 0)
        #expect(upgrade.replaces(plain) && !upgrade.replaces(mark("T")) && !upgrade.replaces(mark("S", "bob")))
        #expect(
            !SharedUpgrade(StepUp.Outcome(), of: "S", mark: plain, now: 0).replaces(plain), "it took no session's place"
        )
        #expect(upgrade.dies(with: "S") && upgrade.dies(with: "NEW") && !upgrade.dies(with: "T"))
    }

    /// AM has put another in its place: it ends once, with the last.
    @Test func aSessionThatWasReplacedIsNotEnded() {
        final class Ends: @unchecked Sendable {
            // one test's thread alone uses it
            var sessions: [String] = []
        }
        let ends = Ends()
        var session: OwnSession? = OwnSession(
            .init(token: "OLD", carrier: .provided, affinity: "01"), at: am, realm: "/alpha", renewableUntil: 9
        ) { ends.sessions.append($0.call.head.fields["Cookie"] ?? "") }
        session = session?.upgraded(to: "NEW", affinity: nil)
        #expect(ends.sessions == [] && session?.source.affinity == "01" && session?.renewableUntil == 9)
        session = nil
        #expect(ends.sessions == ["iPlanetDirectoryPro=NEW; amlbcookie=01"])
    }

    // MARK: devices and their codes

    @Test func everyPartOfAOneTimePassword() {
        let plain = OneTimePassword(key: [1, 2, 3], kind: .time(period: 30))
        let others = [
            OneTimePassword(key: [1, 2, 4], kind: .time(period: 30)),
            OneTimePassword(key: [1, 2, 3], kind: .time(period: 60)),
            OneTimePassword(key: [1, 2, 3], kind: .counter(first: 0)),
            OneTimePassword(key: [1, 2, 3], kind: .time(period: 30), hash: .sha256),
            OneTimePassword(key: [1, 2, 3], kind: .time(period: 30), digits: 8),
        ]
        #expect(Set(([plain] + others).map(\.name)).count == 6)
        let counter = OneTimePassword(key: [1, 2, 3], kind: .counter(first: 0))
        #expect(counter.name == OneTimePassword(key: [1, 2, 3], kind: .counter(first: 9)).name, "it goes on")
    }

    private func device(
        _ user: String = "bob", realm: String = "/alpha", server: String = "https://am.test/am",
        _ secret: String = "otpauth://hotp/a?secret=AAAA", entry: String = "phone", at time: Int = 0
    ) -> KeptDevice {
        KeptDevice(
            .init(server: server, realm: realm, user: user), device: entry,
            DeviceRegistration(kind: .oath(uri: secret), issuer: "", account: ""), registered: time,
            factor: .oath(uri: secret))
    }

    @Test func everyPartOfADeviceThatIsKept() {
        let all = [
            device(), device("eve"), device(realm: "/beta"), device(server: "https://am2.test/am"),
            device("bob", "otpauth://hotp/a?secret=BBBB"),
        ]
        #expect(Set(all.map(\.id)).count == 5)
    }

    /// Of one kind, of one user and entry: those of others stay.
    @Test func roomIsMadeByOnesOwn() {
        let memory = DeviceJourneyTests.Memory()
        var kept = [
            memory.keep(device("eve")), memory.keep(device(realm: "/beta")),
            memory.keep(device(server: "https://am2.test/am")), memory.keep(device(entry: "tablet")),
        ]
        for number in 0..<9 {
            kept.append(memory.keep(device("bob", "otpauth://hotp/a?secret=B\(number)", at: number + 1)))
        }
        #expect(kept.allSatisfy { $0 })
        let own = memory.keptDevices.filter {
            $0.place == device().place && $0.device == "phone"
        }
        #expect(own.map(\.registered) == [9, 8, 7, 6])
        #expect(memory.keptDevices.count == 4 + KeptDevice.mostAlike)
    }

    @Test func devicesAreKeptWithinABound() {
        let memory = DeviceJourneyTests.Memory()
        for number in 0..<KeptDevice.most {
            let device = device("user \(number)")
            memory.set(StateKey(.devices, device.id), device.document)
        }
        #expect(!memory.keep(device("one more")) && memory.keep(device("user 7")))
        #expect(memory.keptDevices.count == KeptDevice.most)
    }

    /// A session that was upgraded is for all who need it; a transaction is one request's.
    @Test(arguments: [
        (["AuthenticateToServiceConditionAdvice"], true), (["TransactionConditionAdvice"], false),
        (["AuthenticateToServiceConditionAdvice", "TransactionConditionAdvice"], false),
    ])
    func noTransactionIsShared(_ conditions: [String], _ isShared: Bool) {
        let advice = Advice(source: .header, conditions: conditions.map { .init($0, ["x"]) })
        #expect(StepUp.Goal(advice, SessionSource(token: "S", carrier: .cookie)).isShared == isShared)
    }

    /// Interceptors may have sent a request somewhere else since its session was found.
    @Test(arguments: [
        ("https://api.example.com/a", true), ("https://api.example.com/b", false),
        ("https://other.example.com/a", false),
        ("http://api.example.com/a", false),
    ])
    func aSessionIsShownToTheResourcesAlone(_ url: String, _ isShown: Bool) throws {
        var policy = policy()
        policy.resources = [.init(url: "https://api.example.com/a")]
        #expect(try (policy.refusalToShowSession(on: request("GET", url)) == nil) == isShown)
    }
}
