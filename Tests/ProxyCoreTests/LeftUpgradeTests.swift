import Addresses
import Authorization
import HTTPCodec
import ProxyCore
import Testing

/// AM goes through with what it was told whether anybody hears so or not.
@Suite("An upgrade whose client leaves during the last call to AM")
struct LeftUpgradeTests {
    typealias Up = SteppingUp

    /// How a client leaves.
    enum Leaving: CaseIterable { case ends, lost, resets }

    /// One client of a session, and how its request is given up.
    private struct Client {
        let talk: Conversation
        let streams: MessageServer?

        func leaves(_ how: Leaving) {
            switch how {
            case .ends: talk.driver.clientEnds()
            case .lost: talk.driver.clientIsLost()
            case .resets:
                streams?.cancelled = [StreamID(1)]
                talk.driver.clientPiece([0x0D, 0x0A])
            }
        }
    }

    private static let granted = Up.json(
        "{\"tokenId\":\"SESSION-B\"}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n")
    private static let denied = Up.json("{\"code\":401}", status: "401 Unauthorized")

    private func client(
        _ model: SessionModel, streams: Bool = false, logins: (any LoginStore)? = nil, request: String = Up.get,
        settings: Settings = stepUpSettings()
    ) -> Client {
        let server = streams ? MessageServer() : nil
        let talk = model.client(settings, logins: logins, streams: server)
        model.turn(talk)
        talk.client(request)
        return Client(talk: talk, streams: server)
    }

    /// As far as the resource's refusal.
    private func refused(
        _ model: SessionModel, streams: Bool = false, logins: (any LoginStore)? = nil, request: String = Up.get,
        settings: Settings = stepUpSettings()
    ) -> Client {
        let client = client(model, streams: streams, logins: logins, request: request, settings: settings)
        client.talk.connects()
        client.talk.origin(Up.refused(Up.upgrade))
        return client
    }

    /// As far as the call in which AM is told the last answer.
    private func told(
        _ model: SessionModel, _ how: Leaving = .lost, logins: (any LoginStore)? = nil, request: String = Up.get,
        settings: Settings = stepUpSettings()
    ) -> Client {
        let client = refused(model, streams: how == .resets, logins: logins, request: request, settings: settings)
        client.talk.connects()
        client.talk.origin(Up.step)
        client.talk.connects()
        #expect(client.talk.originGot().contains("robot"), "\(client.talk.notes)")
        return client
    }

    private func replays(_ talk: Conversation, with session: String = "SESSION-B") {
        if talk.driver.dialing != nil { talk.connects() }
        let replay = talk.originGot()
        #expect(replay.contains("GET /api/cart ") && replay.contains("iPlanetDirectoryPro=\(session)\r\n"), "\(replay)")
        talk.origin(ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
    }

    private func asksAM(_ talk: Conversation) -> Bool { talk.driver.dialing?.host == "am.test" }

    @Test(arguments: [Leaving.lost, .resets])
    func thoseWhoWaitHaveWhatItWon(_ how: Leaving) {
        let model = SessionModel()
        let leader = told(model, how)
        let others = (0..<2).map { _ in refused(model).talk }
        leader.leaves(how)
        model.upgrades.ring()
        #expect(leader.talk.driver.isOver == (how == .lost) && leader.talk.driver.hasOrphans)
        for talk in others { #expect(talk.driver.dialing == nil && talk.clientGot() == "") }
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        for talk in others { replays(talk) }
        #expect(model.upgrades.places == 0 && !leader.talk.driver.hasOrphans && leader.talk.driver.origin == nil)
        #expect(leader.talk.driver.records.count == 1)
        // one that was on its way meanwhile
        let late = client(model).talk
        late.connects()
        late.origin(Up.refused(Up.upgrade))
        replays(late)
    }

    /// The client may come again with the session that it knows.
    @Test(arguments: Leaving.allCases)
    func whatNobodyWaitsForIsKept(_ how: Leaving) {
        let model = SessionModel()
        let leader = told(model, how)
        leader.leaves(how)
        #expect(leader.talk.driver.hasOrphans)
        let late = refused(model).talk
        #expect(!asksAM(late) && late.clientGot() == "")
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        replays(late)
        replays(refused(model).talk)
        #expect(model.upgrades.places == 0 && !leader.talk.driver.hasOrphans && leader.talk.driver.origin == nil)
    }

    @Test func theFirstCallMayBeTheLast() {
        let model = SessionModel()
        let leader = refused(model)
        let other = refused(model).talk
        leader.talk.connects()
        leader.leaves(.lost)
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        replays(other)
    }

    /// Nobody is there to go on: the next one begins anew.
    @Test func whatIsNotTheLastLeadsNowhere() {
        let model = SessionModel()
        let leader = refused(model)
        let other = refused(model).talk
        leader.talk.connects()
        leader.leaves(.lost)
        #expect(other.driver.dialing == nil)
        leader.talk.origin(Up.step)
        #expect(leader.talk.driver.isGone && leader.talk.driver.dialing == nil && leader.talk.driver.origin == nil)
        model.upgrades.ring()
        #expect(asksAM(other) && other.driver.dials == 2)
    }

    @Test func whatHasNotGoneOutIsGivenUp() {
        let model = SessionModel()
        let leader = refused(model)
        let other = refused(model).talk
        leader.leaves(.lost)
        #expect(leader.talk.driver.isGone && leader.talk.driver.dialing == nil)
        model.upgrades.ring()
        #expect(asksAM(other))
    }

    @Test func aRefusalIsOneForAllStill() {
        let model = SessionModel()
        let leader = told(model)
        let other = refused(model).talk
        leader.leaves(.lost)
        leader.talk.origin(Self.denied)
        model.upgrades.ring()
        #expect(other.clientGot() == Up.original(Up.upgrade) && !asksAM(other))
        #expect(other.noted("came to nothing") && model.upgrades.places == 0)
    }

    /// The next one tries where AM fails, breaks off or says nothing in time.
    @Test func whereAMFailsTheNextGoesOn() {
        var slow = stepUpSettings()
        slow.timeouts.response = 5_000
        var slower = stepUpSettings()
        slower.timeouts.response = 600_000
        let faults: [(String, Settings, (Conversation) -> Void)] = [
            ("an error", slow, { $0.origin(Up.json("{}", status: "500 Internal Server Error")) }),
            ("an end", slow, { $0.driver.originEnds() }),
            ("a reset", slow, { $0.driver.originEnds(cleanly: false) }),
            (
                "half an answer", slow,
                {
                    $0.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
                    $0.driver.originEnds()
                }
            ),
            (
                "its time", slow,
                {
                    $0.driver.waits(4_999)
                    #expect($0.driver.hasOrphans)
                    $0.driver.waits(1)
                }
            ),
            (
                "a minute", slower,
                {
                    $0.driver.waits(59_999)
                    #expect($0.driver.hasOrphans)
                    $0.driver.waits(1)
                }
            ),
        ]
        for (name, settings, fails) in faults {
            for how in [Leaving.lost, .resets] {
                let model = SessionModel()
                let leader = told(model, how, settings: settings)
                let other = refused(model, settings: settings).talk
                leader.leaves(how)
                model.upgrades.ring()
                #expect(!asksAM(other), "\(name)")
                fails(leader.talk)
                #expect(!leader.talk.driver.hasOrphans && leader.talk.driver.origin == nil, "\(name)")
                model.upgrades.ring()
                #expect(asksAM(other), "\(name), \(how)")
                other.connects()
                other.origin(Self.granted)
                replays(other)
                #expect(model.upgrades.places == 0, "\(name)")
            }
        }
    }

    /// The client has its answer, and AM's comes later.
    @Test func whatTookLongerThanHoldIsHeardAllTheSame() {
        let model = SessionModel()
        let leader = told(model, settings: stepUpSettings { $0.hold = 500 })
        leader.talk.driver.waits(500)
        #expect(leader.talk.clientGot() == Up.original(Up.upgrade) && leader.talk.driver.hasOrphans)
        let other = refused(model).talk
        #expect(!asksAM(other))
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        replays(other)
        #expect(leader.talk.driver.isIdle)
    }

    @Test func othersMayLeaveToo() {
        let model = SessionModel()
        let leader = told(model)
        let second = refused(model).talk
        let third = refused(model).talk
        leader.leaves(.lost)
        second.driver.clientIsLost()
        #expect(second.driver.isGone)
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        replays(third)
        #expect(model.upgrades.places == 0)
    }

    @Test func whatItIsWorthIsJudged() {
        for (answer, verdict) in [(Self.granted, Lockout.Verdict.taken), (Self.denied, .refused), (Up.step, .refused)] {
            let model = SessionModel()
            let logins = LoginBook()
            let leader = told(model, logins: logins)
            leader.leaves(.lost)
            #expect(logins.ended.isEmpty)
            leader.talk.origin(answer)
            #expect(logins.ended == [verdict])
        }
    }

    /// A transaction is for one request alone, and changes no session.
    @Test func aTransactionEndsWithItsRequest() {
        let model = SessionModel()
        let talk = model.client(stepUpSettings())
        talk.client(Up.get)
        talk.connects()
        talk.origin(Up.refused(Up.transaction))
        talk.connects()
        talk.driver.clientIsLost()
        #expect(talk.driver.isGone && talk.driver.origin == nil)
    }

    /// A session of Usher's own goes on as what AM has put in its place.
    @Test func aSessionOfUshersOwnIsReplaced() {
        let settings = stepUpSettings {
            $0.sessions.source = .login
            $0.sessions.login.tree = "Robot"
            $0.sessions.login.answers = $0.answers
        }
        let request = "GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\r\n"
        let model = SessionModel()
        let leader = client(model, request: request, settings: settings)
        leader.talk.connects()
        leader.talk.origin(Up.json("{\"tokenId\":\"OWN-1\"}"))
        leader.talk.connects()
        leader.talk.origin(
            Up.json(
                "{\"latestAccessTime\":\"2026-11-22T10:00:00Z\",\"maxIdleExpirationTime\":\"2026-11-22T10:30:00Z\","
                    + "\"maxSessionExpirationTime\":\"2026-11-22T12:00:00Z\"}"))
        leader.talk.connects()
        leader.talk.origin(Up.refused(Up.upgrade))
        leader.talk.connects()
        leader.leaves(.lost)
        leader.talk.origin(Self.granted)
        // longer than an upgrade is remembered
        model.waits(10_000 + 1)
        let late = client(model, request: request, settings: settings).talk
        late.connects()
        #expect(late.originGot().contains("iPlanetDirectoryPro=SESSION-B"), "\(late.notes)")
    }

    @Test func aProcessThatLeavesWaitsForWhatIsAwaitedAlone() {
        let model = SessionModel()
        let alone = told(model)
        alone.leaves(.lost)
        alone.talk.driver.leaves()
        #expect(alone.talk.driver.isGone && alone.talk.driver.origin == nil && model.upgrades.places == 0)

        let late = told(model)
        late.talk.driver.leaves()
        late.leaves(.lost)
        #expect(late.talk.driver.isGone && late.talk.driver.origin == nil && model.upgrades.places == 0)

        let leader = told(model)
        let other = refused(model).talk
        leader.talk.driver.leaves()
        leader.leaves(.lost)
        leader.talk.driver.leaves()
        #expect(leader.talk.driver.hasOrphans)
        other.driver.clientIsLost()
        leader.talk.driver.leaves()
        #expect(leader.talk.driver.isGone && leader.talk.driver.origin == nil && model.upgrades.places == 0)
    }

    /// A generation that does not have the client is no reason to give the call up, and the call none to keep the client.
    @Test(arguments: [true, false])
    func anotherConfigurationChangesNothing(isAdmitted: Bool) {
        let model = SessionModel()
        let leader = told(model, .resets)
        let other = refused(model).talk
        leader.leaves(.resets)
        let block = AddressBlock("192.0.2.0/24").map { [ClientPolicy.Entry.block($0)] } ?? []
        leader.talk.driver.adopt(Settings(), clients: ClientPolicy(allow: isAdmitted ? block : []))
        #expect(leader.talk.driver.client == (isAdmitted ? .open : .finished) && leader.talk.driver.hasOrphans)
        leader.talk.origin(Self.granted)
        model.upgrades.ring()
        replays(other)
        #expect(!leader.talk.driver.hasOrphans)
    }

    /// Who gives up one request after another has so many heard on a connection, each for a minute at most.
    @Test func aConnectionHasNoMoreThanSixteenOfThem() throws {
        var settings = stepUpSettings()
        settings.timeouts.response = 600_000
        let world = StreamWorld(settings)
        let client = world.client(http2: true)
        var splitter = Splitter(.whole)
        for key in 1...20 {
            let fields = [(name: "Cookie", value: "iPlanetDirectoryPro=SESSION-\(key)")]
            try client.ask(key, "GET", "http://shop.test/api/cart", fields, ends: true)
            world.settle(&splitter)
            if key == 1 { world.connects(client.driver, http2: true) }
            world.settle(&splitter)
        }
        for key in 1...20 {
            let shop = try #require(world.origin(of: key))
            try shop.answer(key, 401, [("WWW-Authenticate", Up.advice(Up.upgrade))], length: 0)
            try shop.end(key, isChunked: false)
        }
        world.settle(&splitter)
        for _ in 1...20 {
            #expect(client.driver.dialing?.host == "am.test")
            world.connects(client.driver, http2: false)
            world.settle(&splitter)
        }
        #expect(client.driver.exchanges == 40)
        for key in 1...20 { try client.reset(key) }
        world.settle(&splitter)
        #expect(client.driver.exchanges == 16 && client.driver.records.count == 20)
        let first = try #require(world.origin(of: 21))
        try first.answer(21, 401, [], length: 0)
        world.settle(&splitter)
        #expect(client.driver.exchanges == 15)
        world.passes(59_999, &splitter)
        #expect(client.driver.exchanges == 15)
        world.passes(1, &splitter)
        #expect(client.driver.exchanges == 0 && client.driver.holdsNothing)
    }
}
