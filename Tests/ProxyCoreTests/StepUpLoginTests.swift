import Authorization
import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Logins that AM judges")
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
        second.driver.waits(100)
        #expect(second.driver.dialing == nil && second.clientGot() == "")
        first.origin(Up.success)
        second.driver.waits(100)
        #expect(second.driver.dialing?.host == "am.test")

        let third = refused(logins, settings())
        second.connects()
        second.origin(Up.step)
        second.connects()
        second.origin(Self.denied)
        third.driver.waits(100)
        #expect(third.clientGot() == Up.original() && third.noted("not tried again"))
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
        leaving.driver.clientEnds()
        #expect(leaving.driver.isOver && leaving.driver.records.count == 1)
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
                request: [.respond(refusal)])
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
