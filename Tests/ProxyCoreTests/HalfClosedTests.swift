import Interception
import ProxyCore
import Testing

/// A client that closed its side, and of whose answer nothing has come.
@Suite("Half-closed clients")
struct HalfClosedTests {
    private let short = settings { $0.timeouts.halfClosed = 500 }

    private func asked(_ settings: Settings, _ request: String = get) -> Conversation {
        let talk = Conversation(settings)
        talk.client(request)
        talk.driver.clientEnds()
        return talk
    }

    /// Given up at that moment, and not before.
    private func expectGivenUp(_ talk: Conversation, after milliseconds: Int) {
        talk.driver.waits(milliseconds - 1)
        #expect(!talk.driver.isOver && talk.driver.records.isEmpty, "too early")
        talk.driver.waits(1)
        #expect(talk.driver.client == .closed && talk.record.status == 504, "too late")
        #expect(talk.noted("timeouts.half_closed") && talk.clientGot().contains("timeouts.half_closed"))
        #expect(talk.driver.deadline == .max || talk.driver.isClosed)
    }

    @Test func itIsGivenUpAtTheOrigin() {
        let talk = Conversation(short)
        talk.client(get)
        talk.connects()
        talk.driver.waits(300)
        talk.driver.clientEnds()
        let connection = talk.connection
        expectGivenUp(talk, after: 500)
        #expect(connection?.isClosed == true && talk.driver.releases == [false])
    }

    @Test func itIsGivenUpWhileItConnects() {
        let talk = asked(short)
        expectGivenUp(talk, after: 500)
        #expect(talk.driver.dialing == nil)
    }

    @Test func noOriginIsLeftToWaitForABodyThatDoesNotCome() {
        for sent in ["", "some"] {
            let talk = asked(
                short, "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 50\r\n\r\n\(sent)")
            talk.connects()
            #expect(talk.driver.isOver && talk.driver.releases == [false], "\(sent)")
        }
    }

    @Test func itIsGivenUpWhileAPasswordIsChecked() {
        var asking = PasswordTests.asking
        asking.timeouts.halfClosed = 500
        let talk = asked(
            asking, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic YTpi\r\n\r\n")
        expectGivenUp(talk, after: 500)
    }

    @Test func fiveSecondsUnlessToldOtherwise() {
        let talk = asked(Settings())
        talk.connects()
        expectGivenUp(talk, after: 5_000)
    }

    @Test func noneIsForEver() {
        let talk = asked(settings { $0.timeouts.halfClosed = 0 })
        talk.connects()
        talk.driver.waits(59_000)
        #expect(!talk.driver.isOver)
        talk.origin(ok)
        #expect(talk.clientGot().hasSuffix("ok") && talk.driver.client == .closed)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 2", "H",
        "HTTP/1.1 103 Early Hints\r\n\r\n",
    ])
    func anAnswerThatHasBegunIsWaitedFor(_ beginning: String) {
        let talk = asked(short)
        talk.connects()
        talk.driver.waits(499)
        talk.origin(beginning)
        talk.driver.waits(50_000)
        #expect(!talk.driver.isOver && talk.driver.records.isEmpty)
    }

    @Test func theAnswerInTimeIsDelivered() {
        let talk = asked(short)
        talk.connects()
        talk.driver.waits(499)
        talk.origin(ok)
        #expect(talk.clientGot().hasSuffix("ok") && talk.driver.client == .closed && talk.record.status == 200)
    }

    @Test func eachOfSeveralRequestsHasItsTime() {
        let talk = Conversation(short)
        talk.client(get + get + get)
        talk.connects()
        talk.driver.clientEnds()
        talk.driver.waits(400)
        talk.origin(ok)
        #expect(talk.record.status == 200)
        talk.driver.waits(499)
        #expect(talk.driver.records.count == 1 && !talk.driver.isOver)
        talk.driver.waits(1)
        #expect(talk.driver.records.map(\.status) == [200, 504] && talk.driver.client == .closed)
        #expect(talk.driver.origin == nil)
    }

    @Test func aClientThatSaysMoreHasNotClosedItsSide() {
        let talk = Conversation(short)
        talk.client(get)
        talk.connects()
        talk.driver.waits(59_000)
        #expect(talk.driver.records.isEmpty && !talk.driver.isOver)
    }
}
