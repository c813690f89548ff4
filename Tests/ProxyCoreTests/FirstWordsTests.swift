import Testing

@testable import ProxyCore

@Suite("The first bytes of a server in a tunnel")
struct FirstWordsTests {
    private static let words: [(pieces: [[UInt8]], mayBe: Bool)] = [
        ([[0, 0, 0, 4, 0, 0, 0, 0, 0]], true), ([[0], [0, 18], [4, 0, 0, 0, 0, 0]], true),
        ([[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]], true),
        // an acknowledgement, another kind, a stream's, no multiple of a setting, more than any server has
        ([[0, 0, 0, 4, 1]], false), ([[0, 0, 0, 6]], false), ([[0, 0, 0, 4, 0, 0, 0, 0, 1]], false),
        ([[0, 0, 7]], false), ([[0, 0x10]], false),
        // words of other protocols
        ([Array("$ ".utf8)], false), ([Array(">".utf8)], false), ([[0xFF, 0xFD, 0x18]], false),
        ([Array("abc\u{4}".utf8)], false), ([[0x4A, 0, 0, 0, 0x0A]], false),
    ]

    @Test("Only HTTP/2 SETTINGS are held back; other bytes are forwarded at once", arguments: words)
    func hears(_ pieces: [[UInt8]], _ mayBe: Bool) {
        var greeting = OriginGreeting()
        #expect(pieces.map { greeting.hears($0.span) }.last == mayBe)
        #expect(greeting.bytes == pieces.flatMap(\.self))
    }

    /// Whose client speaks HTTP/2 has done so by then.
    @Test("After a second, SETTINGS are forwarded, and a silent client gets its tunnel")
    func theClientsTurn() {
        let greeting: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let talk = Conversation()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.connects()
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 "))
        talk.origin(greeting)
        talk.driver.waits(999)
        #expect(talk.clientGot().isEmpty && !talk.driver.isTunnel)
        talk.driver.waits(1)
        #expect(Array(talk.driver.sent.suffix(greeting.count)) == greeting && talk.driver.isTunnel)

        let silent = Conversation(settings { $0.interception.hosts = ["a.test"].compactMap { DestinationPattern($0) } })
        silent.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        silent.driver.waits(999)
        #expect(silent.driver.dialing == nil)
        silent.driver.waits(1)
        #expect(silent.driver.dialing != nil)
    }
}
