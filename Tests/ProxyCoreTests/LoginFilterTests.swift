import Authorization
import Interception
import Testing

@testable import ProxyCore

/// What holds for whatever a login wins, on the way of an exchange, alone and beside a step-up.
@Suite struct LoginFilterTests {
    @Test(arguments: LoginScene.allCases)
    func theLoginComesFirst(scene: LoginScene) {
        let talk = scene.begin()
        #expect(talk.originGot().hasPrefix(scene.call), "\(talk.notes)")
        talk.origin(scene.granted("a"))
        talk.connects()
        #expect(talk.originGot().contains(scene.shown("a")))
        talk.origin(LoginScene.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
        // the next request of the same client has it at once
        talk.client(SteppingUp.get)
        #expect(talk.originGot().contains(scene.shown("a")))
    }

    /// The advice is looked at first; what is sent again has both, and what is over by then is renewed on top.
    @Test(arguments: LoginScene.allCases)
    func besideAStepUp(scene: LoginScene) {
        let talk = scene.begin(stepUpSettings())
        talk.origin(scene.granted("a"))
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/"), "\(talk.notes)")
        talk.origin(SteppingUp.success)
        talk.connects()
        let replay = talk.originGot()
        #expect(replay.contains("_txid=t-1") && replay.contains(scene.shown("a")), "\(replay)")
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix(scene.call), "\(talk.notes)")
        talk.origin(scene.granted("b"))
        talk.connects()
        let again = talk.originGot()
        #expect(again.contains("_txid=t-1") && again.contains(scene.shown("b")), "\(again)")
        talk.origin(LoginScene.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
    }

    // MARK: others log in

    private func waits(on store: CredentialModel<CookieJar>) -> Conversation {
        var settings = Settings()
        settings.rules.append(LoginScene.rule())
        let talk = Conversation(settings, cookies: store)
        talk.driver.tell(time: 1_000_000)
        talk.client(SteppingUp.get)
        return talk
    }

    @Test func allWhoWaitForALoginAreToldOfIt() {
        let scene = LoginScene.cookie
        let store = CredentialModel<CookieJar>(.cookie, capacity: 2)
        let first = waits(on: store)
        first.connects()
        let others = (0..<2).map { _ in waits(on: store) }
        #expect(store.waiting == 2 && others.allSatisfy { $0.driver.dialing == nil && $0.driver.deadline == 30_000 })
        let crowded = waits(on: store)
        crowded.connects()
        #expect(crowded.originGot().hasPrefix("GET "))
        crowded.origin(LoginScene.ok)
        #expect(crowded.noted("there is no room for more requests"))
        first.origin(scene.granted("a"))
        store.ring(others[0], others[1])
        for talk in others {
            talk.connects()
            #expect(talk.originGot().contains(scene.shown("a")), "\(talk.notes)")
        }
        #expect(store.waiting == 0)
    }

    @Test func theNextOneLogsInWhereNobodyDoesAnyMore() {
        let scene = LoginScene.cookie
        let store = CredentialModel<CookieJar>(.cookie, capacity: 9)
        let first = waits(on: store)
        first.connects()
        let leaving = waits(on: store)
        let second = waits(on: store)
        let third = waits(on: store)
        leaving.driver.clientIsLost()
        #expect(store.waiting == 2)
        first.driver.clientIsLost()
        store.ring(second, third)
        second.connects()
        #expect(second.originGot().hasPrefix(scene.call) && third.driver.dialing == nil, "\(second.notes)")
        #expect(store.waiting == 1)
        second.origin(scene.granted("b"))
        store.ring(third)
        third.connects()
        #expect(third.originGot().contains(scene.shown("b")) && store.waiting == 0)
    }

    @Test(arguments: LoginScene.allCases)
    func oneThatTakesTooLong(scene: LoginScene) {
        let talk = scene.begin()
        #expect(talk.originGot().hasPrefix(scene.call))
        talk.driver.waits(30_001)
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.hasPrefix("GET /api/cart ") && !sent.contains(scene.shown("")), "\(talk.notes)")
        talk.origin(LoginScene.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n") && talk.noted("longer than hold allows"))
    }

    @Test(arguments: LoginScene.allCases)
    func aRenewalThatFailsGivesTheRefusalBack(scene: LoginScene) {
        let talk = scene.begin()
        talk.origin(scene.granted("a"))
        talk.connects()
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix(scene.call), "\(talk.notes)")
        talk.origin("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("response was delivered"), "\(talk.notes)")
    }

    @Test(arguments: LoginScene.allCases)
    func noAttemptIsLeftForARenewal(scene: LoginScene) {
        var settings = Settings()
        settings.limits.retries = 0
        let talk = scene.begin(settings)
        talk.origin(scene.granted("a"))
        talk.connects()
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        talk.origin(scene.granted("b"))
        #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("limits.retries"), "\(talk.notes)")
    }

    private let post =
        "POST http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 80\r\n\r\n"
        + String(repeating: "x", count: 80)

    /// A body that was not kept is not sent twice; the next request has another one won, and those after it have none.
    @Test(arguments: LoginScene.allCases)
    func aBodyThatIsTooLarge(scene: LoginScene) {
        var settings = Settings()
        settings.limits.bufferedBody = 64
        let talk = scene.begin(settings, post)
        talk.origin(scene.granted("a"))
        for value in ["b", "b", "b"] {
            talk.connects()
            talk.origin(LoginScene.unauthorized)
            #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("was not kept"), "\(talk.notes)")
            talk.client(post)
            talk.connects()
            let sent = talk.originGot()
            if sent.hasPrefix(scene.call) {
                talk.origin(scene.granted(value))
            } else {
                #expect(sent.contains(scene.shown("b")) && talk.noted("cool_down"), "\(talk.notes)")
            }
        }
    }

    /// The same where the answer that refuses it is larger than is kept.
    @Test(arguments: LoginScene.allCases)
    func aRefusalThatIsTooLarge(scene: LoginScene) {
        let refusal =
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: 70000\r\n\r\n" + String(repeating: "n", count: 70_000)
        let talk = scene.begin()
        talk.origin(scene.granted("a"))
        var calls = 1
        for _ in 0..<4 {
            talk.connects()
            talk.origin(refusal)
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 401 "), "\(talk.notes)")
            talk.client(SteppingUp.get)
            talk.connects()
            if talk.originGot().hasPrefix(scene.call) {
                calls += 1
                talk.origin(scene.granted("b"))
            }
        }
        #expect(calls == 2, "\(talk.notes)")
    }

    /// Nothing that is shown proves that this is the host: a client may have a tunnel lead anywhere.
    @Test(arguments: LoginScene.allCases, [false, true])
    func aTunnelThatOnlyBearsTheName(scene: LoginScene, verifies: Bool) {
        var settings = Settings()
        settings.interception.hosts = [DestinationPattern("shop.test")].compactMap { $0 }
        for host in ["shop.test", "192.0.2.1"] {
            guard let pattern = DestinationPattern(host) else { continue }
            var rule = OriginSecurity.HostRule(host: pattern)
            rule.verifies = verifies
            settings.interception.security.rules.append(rule)
        }
        switch scene {
        case .token: settings.tokens = TokenPolicy([LoginScene.source { $0.resources = ["https://shop.test/*"] }])
        case .cookie: settings.rules = [LoginScene.rule()]
        }
        let talk = LoginScene.begin(settings, "CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
        talk.driver.fromClient(Greeting.hello("shop.test"))
        talk.driver.clientIsSecured()
        talk.client("GET /api/cart HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.hasPrefix(verifies ? scene.call : "GET /api/cart "), "\(talk.notes)")
        if verifies { return }
        talk.origin(LoginScene.ok)
        #expect(talk.noted("nothing proves that this is shop.test"), "\(talk.notes)")
    }
}
