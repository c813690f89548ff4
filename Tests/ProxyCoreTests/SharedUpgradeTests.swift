import Authorization
import ProxyCore
import Testing

@Suite("Shared upgrades")
struct SharedUpgradeTests {
    typealias Up = SteppingUp

    private static let granted = Up.json(
        "{\"tokenId\":\"SESSION-B\"}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n")
    private static let denied = Up.json("{\"code\":401}", status: "401 Unauthorized")

    /// A client as far as the resource's refusal.
    private func refused(
        _ model: SessionModel, _ advice: String = Up.upgrade, from address: String = "192.0.2.1",
        request: String = Up.get, logins: (any LoginStore)? = nil,
        _ change: (inout AuthorizationPolicy) -> Void = { _ in }
    ) -> Conversation {
        let talk = model.client(stepUpSettings(change), address, logins: logins)
        model.turn(talk)
        talk.client(request)
        talk.connects()
        talk.origin(Up.refused(advice))
        return talk
    }

    private func replays(_ talk: Conversation, with session: String = "SESSION-B") {
        if talk.driver.dialing != nil { talk.connects() }
        let replay = talk.originGot()
        #expect(
            replay.hasPrefix("GET /api/cart ") && replay.contains("iPlanetDirectoryPro=\(session)\r\n"), "\(replay)")
        talk.origin(ok)
        let answer = talk.clientGot()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
        #expect(answer.contains("Set-Cookie: iPlanetDirectoryPro=\(session)"), "\(answer)")
    }

    @Test func fiveNeedItAndOneMakesIt() {
        let model = SessionModel()
        let talks = (0..<5).map { _ in refused(model) }
        #expect(talks.map { $0.driver.dialing?.host } == ["am.test", nil, nil, nil, nil])
        talks[0].connects()
        talks[0].origin(Self.granted)
        replays(talks[0])
        for talk in talks[1...] { #expect(talk.driver.dialing == nil && talk.clientGot() == "") }
        model.upgrades.ring()
        for talk in talks[1...] { replays(talk) }
        #expect(model.upgrades.places == 0)
        // one that was on its way meanwhile, with the old session
        replays(refused(model))
        // and one that comes too late
        model.waits(10_000)
        #expect(refused(model).driver.dialing?.host == "am.test")
    }

    @Test func nothingElseIsShared() {
        let model = SessionModel()
        let first = refused(model)
        let others = [
            refused(model, "{\"AuthenticateToServiceConditionAdvice\":[\"Other\"]}"),
            refused(model, request: Up.get.replacing("SESSION-A", with: "SESSION-Z")),
            refused(model, from: "198.51.100.7"),
            refused(model) { $0.answers = [.init(callback: "NameCallback", response: .value("another"))] },
            refused(model, Up.transaction), refused(model, Up.transaction),
            refused(
                model,
                "{\"AuthenticateToServiceConditionAdvice\":[\"StepUp\"],\"TransactionConditionAdvice\":[\"t-1\"]}"),
        ]
        for talk in [first] + others { #expect(talk.driver.dialing?.host == "am.test", "\(talk.notes)") }
    }

    @Test func theNextTakesOverWhereItFailsOrItsClientLeaves() {
        let model = SessionModel()
        let talks = (0..<4).map { _ in refused(model) }
        talks[0].connects()
        talks[0].origin(Up.json("{}", status: "500 Internal Server Error"))
        #expect(talks[0].clientGot() == Up.original(Up.upgrade))
        model.turn(talks[1])
        model.upgrades.ring()
        #expect(talks[1].driver.dialing?.host == "am.test" && talks[2].driver.dialing == nil)
        talks[1].driver.clientIsLost()
        model.turn(talks[2])
        model.upgrades.ring()
        #expect(talks[2].driver.dialing?.host == "am.test" && talks[3].driver.dialing == nil)
        talks[2].connects()
        talks[2].origin(Self.granted)
        model.upgrades.ring()
        replays(talks[2])
        replays(talks[3])
        #expect(talks[3].noted("is granted") && model.upgrades.places == 0)
    }

    /// What AM, or a person, will have none of is not asked for once more by each who waits.
    @Test func aRefusalIsOneForAll() {
        let model = SessionModel()
        let talks = (0..<3).map { _ in refused(model) }
        talks[0].connects()
        talks[0].origin(Self.denied)
        model.upgrades.ring()
        for talk in talks {
            #expect(talk.clientGot() == Up.original(Up.upgrade) && talk.driver.dialing == nil, "\(talk.notes)")
        }
        #expect(talks[2].noted("came to nothing") && model.upgrades.places == 0)
        // a later request is one of its own, up to the lockout
        #expect(refused(model).driver.dialing?.host == "am.test")
    }

    /// A client that has closed its sending side may be gone; those who wait for it are not.
    @Test func whoeverMakesItGoesOnForTheOthers() {
        let model = SessionModel()
        let talks = (0..<2).map { _ in refused(model) }
        talks[0].connects()
        talks[0].driver.clientEnds()
        talks[0].origin(Self.granted)
        model.upgrades.ring()
        replays(talks[1])
        #expect(model.upgrades.places == 0)
        // nobody waits for this one
        let alone = refused(model, request: Up.get.replacing("SESSION-A", with: "SESSION-Z"))
        alone.driver.clientEnds()
        #expect(alone.driver.isOver && model.upgrades.places == 0)
    }

    @Test func nobodyWaitsLongerThanItMay() {
        let model = SessionModel()
        let slow = refused(model)
        let hasty = refused(model) { $0.hold = 500 }
        let gone = refused(model)
        gone.driver.clientEnds()
        #expect(gone.driver.isOver || gone.clientGot() == "")
        hasty.driver.waits(500)
        #expect(hasty.clientGot() == Up.original(Up.upgrade) && hasty.noted("longer than authorization.hold"))
        slow.connects()
        slow.origin(Self.granted)
        model.upgrades.ring()
        replays(slow)
        #expect(model.upgrades.places == 0)
    }

    /// What an earlier one won does not suffice: it counts for nothing, and an upgrade of one's own follows, once.
    @Test func aSessionThatWasWonBeforeMayNotSuffice() {
        let model = SessionModel()
        let first = refused(model)
        first.connects()
        first.origin(Self.granted)
        replays(first)
        let late = refused(model)
        #expect(late.originGot().contains("SESSION-B"))
        model.turn(late)
        late.origin(Up.refused(Up.upgrade))
        #expect(late.driver.dialing?.host == "am.test", "\(late.notes)")
        late.connects()
        #expect(late.originGot().contains("iPlanetDirectoryPro=SESSION-B"))
        late.origin(Self.granted.replacing("SESSION-B", with: "SESSION-C"))
        late.connects()
        #expect(late.originGot().contains("iPlanetDirectoryPro=SESSION-C"))
        late.origin(Up.refused(Up.upgrade))
        #expect(late.clientGot().hasPrefix("HTTP/1.1 401 ") && late.noted("after the last one allowed"))
        #expect(late.noted("AM is not asked again"))
        // and it is not kept for others
        #expect(refused(model).driver.dialing?.host == "am.test")
    }

    /// What others won may suffice no more than the first of them did: it is gone by once.
    @Test func sessionsThatWereWonBeforeAreTriedOnce() {
        let model = SessionModel()
        let first = refused(model)
        first.connects()
        first.origin(Self.granted)
        replays(first)
        let second = refused(model, request: Up.get.replacing("SESSION-A", with: "SESSION-B"))
        second.connects()
        second.origin(Self.granted.replacing("SESSION-B", with: "SESSION-C"))
        replays(second, with: "SESSION-C")
        let late = refused(model)
        for session in ["SESSION-B", "SESSION-C"] {
            #expect(late.driver.dialing == nil && late.originGot().contains(session), "\(late.notes)")
            model.turn(late)
            late.origin(Up.refused(Up.upgrade))
        }
        #expect(late.driver.dialing == nil && late.clientGot().hasPrefix("HTTP/1.1 401 "), "\(late.notes)")
    }

    @Test func aSessionThatStaysIsNotKept() {
        let model = SessionModel()
        let first = refused(model)
        let second = refused(model)
        first.connects()
        first.origin(Up.json("{}"))
        model.upgrades.ring()
        for talk in [first, second] {
            if talk.driver.dialing != nil { talk.connects() }
            #expect(talk.originGot().contains("SESSION-A"))
            talk.origin(ok)
        }
        #expect(refused(model).driver.dialing?.host == "am.test")
    }

    /// After a logout the old session is worth nothing any more.
    @Test(arguments: ["SESSION-A", "SESSION-B"])
    func aLogoutEndsWhatIsKept(_ session: String) {
        let model = SessionModel()
        let first = refused(model)
        first.connects()
        first.origin(Self.granted)
        replays(first)
        let leaving = model.client(stepUpSettings())
        leaving.client(
            "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\n"
                + "Cookie: iPlanetDirectoryPro=\(session)\r\nContent-Length: 0\r\n\r\n")
        leaving.connects()
        leaving.origin(Up.json("{\"result\":\"Successfully logged out\"}"))
        #expect(refused(model).driver.dialing?.host == "am.test")
    }
}
