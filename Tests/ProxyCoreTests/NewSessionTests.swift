import Testing

@Suite("A session that was replaced")
struct NewSessionTests {
    typealias Up = SteppingUp

    /// The replay may have been carried out, so the advice is not shown again; the session is new all the same.
    @Test func anAnswerMadeHereTellsOfTheNewSession() {
        let talk = Conversation(stepUpSettings(), delivery: .whole)
        talk.client(Up.post)
        talk.connects()
        talk.origin(Up.refused(Up.upgrade))
        talk.connects()
        talk.origin(Up.json("{}", fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"))
        talk.connects()
        #expect(talk.originGot().contains("POST /api/"))
        talk.driver.originEnds()
        let answer = talk.clientGot()
        #expect(answer.hasPrefix("HTTP/1.1 502 "), "\(answer)")
        #expect(answer.contains("\r\nSet-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"), "\(answer)")
    }
}
