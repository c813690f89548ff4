import Authorization
import ProxyCore
import Testing

@Suite("Times of a step-up")
struct StepUpTimeTests {
    typealias Up = SteppingUp

    @Test func hold() {
        for stage in 0..<3 {
            let talk = Conversation(stepUpSettings { $0.hold = 1000 })
            talk.client(Up.get)
            talk.connects()
            talk.origin(Up.refused())
            if stage > 0 { talk.connects() }
            if stage > 1 { talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{") }
            talk.driver.waits(999)
            #expect(talk.clientGot() == "")
            talk.driver.touched()
            talk.driver.waits(1)
            #expect(talk.clientGot() == Up.original() && talk.noted("authorization.hold"))
            #expect(talk.driver.isIdle && talk.driver.dialing == nil)
        }
    }

    @Test func aWaitThatAMAsksFor() {
        let wait = Up.json(
            "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"2000\"}]}]}"
        )
        let talk = asked(stepUpSettings { $0.hold = 3000 })
        _ = talk.originGot()
        talk.origin(wait)
        talk.driver.waits(1000)
        // what a slow reader takes meanwhile changes nothing
        talk.driver.touched()
        talk.driver.waits(999)
        #expect(talk.driver.origin == nil)
        talk.driver.waits(1)
        talk.connects()
        #expect(talk.originGot().contains("PollingWaitCallback"))
        talk.origin(wait)
        talk.driver.waits(1000)
        #expect(talk.clientGot() == Up.original() && talk.noted("authorization.hold"))
    }

    @Test func theAnswerToAReplayTakesTheTimeItTakes() {
        let talk = asked(stepUpSettings { $0.hold = 1000 })
        talk.origin(Up.success)
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n0")
        for digit in 1...4 {
            talk.driver.waits(900)
            talk.origin("\(digit)")
        }
        #expect(talk.clientGot().hasSuffix("01234") && talk.driver.isIdle)
    }

    /// The app waits for all rounds together.
    @Test func holdIsForAllRounds() {
        let talk = asked(stepUpSettings { $0.hold = 1_000 }, refused: Up.refused(Up.upgrade))
        talk.driver.waits(600)
        talk.origin(Up.success)
        talk.origin(Up.refused())
        #expect(talk.driver.dialing?.host == "am.test" && talk.driver.deadline == 1_000)
        talk.connects()
        talk.driver.waits(399)
        #expect(talk.clientGot() == "")
        talk.driver.waits(1)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 401 ") && talk.noted("authorization.hold"))
    }
}
