import Authorization
import Interception
import ProxyCore
import Testing

@Suite("Logins, and AM's refusals of them")
struct StepUpLoginTests {
    typealias Up = SteppingUp

    private static let denied = Up.json("{\"code\":401}", status: "401 Unauthorized")

    private func settings(_ refusals: Int = 1) -> Settings {
        stepUpSettings { $0.lockout = .init(refusals: refusals, hold: 1_000) }
    }

    /// One client as far as the resource's refusal.
    private func refused(
        _ logins: LoginBook, _ settings: Settings, _ request: String = Up.get, _ advice: String = Up.refused()
    )
        -> Conversation
    {
        let talk = Conversation(settings, logins: logins)
        talk.client(request)
        talk.connects()
        talk.origin(advice)
        return talk
    }

    /// As far as AM's having been told the name.
    private func told(
        _ logins: LoginBook, _ settings: Settings, _ request: String = Up.get, _ advice: String = Up.refused()
    )
        -> Conversation
    {
        let talk = refused(logins, settings, request, advice)
        talk.connects()
        talk.origin(Up.step)
        talk.connects()
        #expect(talk.originGot().contains("robot"))
        return talk
    }

    @Test func aRefusalHoldsOff() {
        let logins = LoginBook()
        told(logins, settings()).origin(Self.denied)
        #expect(logins.ended == [.refused])
        let held = refused(logins, settings())
        #expect(held.clientGot() == Up.original() && held.driver.dialing == nil && held.driver.isIdle)
        #expect(held.noted("no step-up: AM refused these answers once, so they are not tried again for 1 s"))
        #expect(!held.noted("authenticating"))
        logins.now = 1_000
        #expect(refused(logins, settings()).driver.dialing?.host == "am.test")
    }

    @Test func whatAMWasNotToldItDidNotRefuse() {
        let logins = LoginBook()
        for answer in [
            Self.denied, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", Up.json("[]"),
            Up.step.replacing("NameCallback", with: "RareCallback"), Up.success,
        ] {
            let talk = refused(logins, settings())
            talk.connects()
            talk.origin(answer)
            if answer == Up.success { talk.origin(ok) }
        }
        let gone = refused(logins, settings())
        gone.connects()
        gone.driver.clientIsLost()
        #expect(logins.ended == Array(repeating: .unjudged, count: 6))
    }

    @Test func whateverEndsALoginIsCounted() {
        let ends: [(String, (Conversation) -> Void, Lockout.Verdict)] = [
            ("denied", { $0.origin(Self.denied) }, .refused),
            ("asked again", { $0.origin(Up.step) }, .refused),
            ("an odd answer", { $0.origin("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n") }, .refused),
            ("no answer", { $0.driver.originEnds() }, .refused),
            ("too slow", { $0.driver.waits(60_000) }, .refused),
            ("the client left", { $0.driver.clientEnds() }, .refused),
            ("the client is lost", { $0.driver.clientIsLost() }, .refused),
            ("an unknown question", { $0.origin(Up.step.replacing("NameCallback", with: "RareCallback")) }, .unjudged),
            (
                "a timed-out journey",
                { $0.origin(Up.json("{\"detail\":{\"errorCode\":\"110\"}}", status: "401 No")) }, .unjudged
            ),
            (
                "granted",
                {
                    $0.origin(Up.success)
                    $0.origin(ok)
                }, .taken
            ),
            (
                "not granted, said the resource",
                {
                    $0.origin(Up.success)
                    $0.origin(Up.refused())
                }, .refused
            ),
            (
                "denied for another reason",
                {
                    $0.origin(Up.success)
                    $0.origin("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
                }, .unjudged
            ),
            (
                "no answer to the replay",
                {
                    $0.origin(Up.success)
                    $0.driver.originEnds()
                    $0.driver.dialFails(.refused("no"))
                }, .unjudged
            ),
            (
                "the client left the replay",
                {
                    $0.origin(Up.success)
                    $0.driver.clientIsLost()
                }, .unjudged
            ),
        ]
        for (name, end, verdict) in ends {
            let logins = LoginBook()
            let talk = told(logins, settings())
            end(talk)
            #expect(logins.ended == [verdict], "\(name): \(talk.notes)")
        }
    }

    /// A refused upgrade is a 401, so that a success is one.
    @Test func anUpgradeIsJudgedByAM() {
        let logins = LoginBook()
        let talk = told(logins, settings(), Up.get, Up.refused(Up.upgrade))
        talk.origin(Up.success)
        #expect(logins.ended == [.taken])
        // a transaction that follows is a login of its own
        talk.origin(Up.refused())
        talk.connects()
        talk.origin(Self.denied)
        #expect(logins.ended == [.taken, .unjudged])
    }

    @Test func oneWaitsForTheOther() {
        let logins = LoginBook()
        let first = told(logins, settings())
        let second = refused(logins, settings())
        #expect(second.driver.dialing == nil && second.clientGot() == "")
        // nothing wakes it meanwhile
        #expect(second.driver.deadline == 45_000)
        first.origin(Up.success)
        logins.ring(second)
        #expect(second.driver.dialing?.host == "am.test")

        let third = refused(logins, settings())
        second.connects()
        second.origin(Up.step)
        second.connects()
        second.origin(Self.denied)
        logins.ring(third)
        #expect(third.clientGot() == Up.original() && third.noted("not tried again"))
        #expect(logins.ledger.waiting == 0)
    }

    /// However the login that is waited for comes to its end, and whoever leaves meanwhile.
    @Test func everyEndIsTheNextOnesTurn() {
        let ends: [(String, (Conversation) -> Void)] = [
            ("granted", { $0.origin(Up.success) }), ("out of time at AM", { $0.origin(Self.outOfTime) }),
            ("begun by nobody", { $0.origin(Up.step.replacing("NameCallback", with: "RareCallback")) }),
        ]
        for (name, end) in ends {
            let logins = LoginBook()
            let first = told(logins, settings())
            let waiting = (0..<3).map { _ in refused(logins, settings()) }
            waiting[0].driver.clientIsLost()
            end(first)
            logins.ring(waiting[1], waiting[2])
            #expect(waiting[1].driver.dialing?.host == "am.test" && waiting[2].driver.dialing == nil, "\(name)")
            // one that is begun, and told AM nothing, is given up
            waiting[1].driver.clientIsLost()
            logins.ring(waiting[2])
            #expect(waiting[2].driver.dialing?.host == "am.test" && logins.ledger.waiting == 0, "\(name)")
        }
    }

    private static let outOfTime = Up.json("{\"detail\":{\"errorCode\":\"110\"}}", status: "401 No")

    /// It is told that its turn has come when it is there no more.
    @Test func aTurnThatNobodyTakesPasses() {
        let logins = LoginBook()
        let first = told(logins, settings())
        let second = refused(logins, settings())
        let third = refused(logins, settings())
        first.origin(Up.success)
        second.driver.clientIsLost()
        logins.ring(second, third)
        #expect(second.driver.records.count == 1 && third.driver.dialing?.host == "am.test")
        #expect(logins.ended.isEmpty && logins.ledger.waiting == 0)
    }

    @Test func whoFindsNoRoomToWaitGoesWithout() {
        let logins = LoginBook(capacity: 1)
        let first = told(logins, settings())
        let second = refused(logins, settings())
        let third = refused(logins, settings())
        #expect(third.clientGot() == Up.original() && third.noted("there is no room for more logins"))
        first.origin(Up.success)
        logins.ring(second, third)
        #expect(second.driver.dialing?.host == "am.test")
    }

    /// AM has answered: how long the resource takes for the replay is no reason to hold up others.
    @Test func aSlowReplayHoldsNobodyUp() {
        let logins = LoginBook()
        let slow = told(logins, settings())
        slow.origin(Up.success)
        #expect(slow.originGot().contains("_txid=t-1") && logins.ended.isEmpty)
        let second = told(logins, settings())
        // what the resource says of the first counts all the same
        slow.origin(Up.refused())
        #expect(logins.ended == [.refused])
        second.origin(Up.success)
        second.origin(ok)
        #expect(logins.ended == [.refused, .taken])
    }

    @Test func nobodyWaitsLongerThanItMay() {
        let logins = LoginBook()
        let slow = told(logins, settings())
        let waiting = Conversation(
            stepUpSettings {
                $0.hold = 500; $0.lockout = .init(refusals: 1)
            }, logins: logins)
        waiting.client(Up.get)
        waiting.connects()
        waiting.origin(Up.refused())
        waiting.driver.waits(499)
        #expect(waiting.clientGot() == "")
        waiting.driver.waits(1)
        #expect(waiting.clientGot() == Up.original() && waiting.noted("authorization.hold"))
        let leaving = refused(logins, settings())
        #expect(logins.ledger.waiting == 1)
        leaving.driver.clientEnds()
        #expect(leaving.driver.isOver && leaving.driver.records.count == 1)
        #expect(logins.ledger.waiting == 0)
        #expect(logins.ended.isEmpty)
        slow.origin(Self.denied)
        #expect(logins.ended == [.refused])
    }

    /// An interceptor's answer in AM's place tells AM nothing.
    @Test func whatAnInterceptorAnswersIsNotAMs() {
        var settings = settings()
        let refusal = DirectResponse(status: 401, headers: [], body: [])
        settings.rules = [
            .init(
                name: "am", when: .all([.test(.action, [.exact("AUTHENTICATE")]), .test(.by, [.exact("usher")])]),
                request: [Respond(refusal)])
        ]
        let logins = LoginBook()
        let talk = refused(logins, settings)
        talk.connects()
        talk.origin(Up.step)
        #expect(talk.clientGot() == Up.original() && logins.ended == [.unjudged])
    }

    // MARK: what a step-up sends once alone

    @Test func nothingThatCountsGoesByAnOldConnection() {
        let talk = Conversation(stepUpSettings())
        talk.exchange("POST http://am.test/am/json/x HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n", ok)
        talk.exchange(Up.post, Up.refused())
        // there is an idle connection to AM, and one to the shop
        #expect(talk.driver.dialing?.host == "am.test" && talk.driver.pool.count == 2)
        talk.connects()
        talk.origin(Up.success)
        #expect(talk.driver.dialing?.host == "shop.test")
        talk.connects()
        talk.origin(ok)
        #expect(talk.record.status == 200)
    }
}
