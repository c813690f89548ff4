import Testing

@Suite("Idle connections with streams")
struct StreamRestTests {
    private let codec = MessageServer()

    @Test("An idle connection frees its message memory, once for each pause")
    func rests() {
        let talk = Conversation(streams: codec)
        talk.client(get)
        talk.connects()
        talk.driver.waits(3_000)
        #expect(codec.rests == 0, "an exchange is under way")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        talk.driver.waits(299)
        #expect(codec.rests == 0)
        talk.driver.waits(1)
        #expect(codec.rests == 1)
        talk.driver.waits(10_000)
        #expect(codec.rests == 1)
        talk.exchange(get, ok)
        talk.driver.waits(200)
        talk.exchange(get, ok)
        talk.driver.waits(200)
        #expect(codec.rests == 1, "something moved meanwhile")
        talk.driver.waits(200)
        #expect(codec.rests == 2)
    }

    @Test("An incomplete request does not keep that memory")
    func unasked() {
        let talk = Conversation(streams: codec)
        talk.client("GET ")
        talk.driver.waits(300)
        #expect(codec.rests == 1)
    }
}
