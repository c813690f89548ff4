import Testing

@Suite("Connections that carry streams, at rest")
struct StreamRestTests {
    private let leg = MessageServer()

    @Test("Memory that messages need is given back once nothing has moved for a while, and once for each time")
    func rests() {
        let talk = Conversation(streams: leg)
        talk.client(get)
        talk.connects()
        talk.driver.waits(3_000)
        #expect(leg.rests == 0, "an exchange is under way")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        talk.driver.waits(299)
        #expect(leg.rests == 0)
        talk.driver.waits(1)
        #expect(leg.rests == 1)
        talk.driver.waits(10_000)
        #expect(leg.rests == 1)
        talk.exchange(get, ok)
        talk.driver.waits(200)
        talk.exchange(get, ok)
        talk.driver.waits(200)
        #expect(leg.rests == 1, "something moved meanwhile")
        talk.driver.waits(200)
        #expect(leg.rests == 2)
    }

    @Test("So it is where a client says something and asks for nothing")
    func unasked() {
        let talk = Conversation(streams: leg)
        talk.client("GET ")
        talk.driver.waits(300)
        #expect(leg.rests == 1)
    }
}
