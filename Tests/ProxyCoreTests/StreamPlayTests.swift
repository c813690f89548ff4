import Foundation
import Testing

@Suite("Playbooks of messages on streams")
struct StreamPlayTests {
    static let folder = PlaybookTests.folder.appending(path: "Streams")

    static let names = PlaybookTests.names(in: folder)

    @Test func thereArePlays() { #expect(Self.names.count >= 13) }

    /// Whatever is spoken on either side.
    @Test(arguments: names)
    func play(_ name: String) throws {
        for codecs in StreamPlay.Codecs.all {
            try PlaybookTests.play(name, in: Self.folder, random: 4..<12) {
                var run = StreamPlay(codecs, $1)
                try run.perform($0)
            }
        }
    }

    @Test func aPlayThatIsWrongFails() throws {
        let begins = "config plain\nstream 1 asks GET http://a.test/\n"
        let asks = begins + "connects a.test:80\nrequest 1 is GET http://a.test/ whole\n"
        for text in [
            "stream 1 asks GET http://a.test/\n", "config odd\n", begins, begins + "connects b.test:80\n",
            begins + "connects a.test:80\n", asks + "stream 1 gets 200 whole\n",
            asks + "request 2 is GET http://a.test/ whole\n",
            asks + "request 1 answers 200\n", asks + "request 1 answers 200\nstream 1 gets 200 whole\n",
            asks + "request 1 answers 200\nstream 1 gets 200 whole\nrecord GET http://a.test/ 404\n",
            asks + "request 1 answers 200\n|\n|-x\nstream 1 gets 200 whole\n", asks + "request 1 jumps\n",
            asks + "jumps\n",
            asks + "stream 2 ends\n", asks + "wait\n",
        ] {
            let playbook = try Playbook(text)
            #expect(throws: (any Error).self, "\(text)") {
                var run = StreamPlay(StreamPlay.Codecs.all[0], .whole)
                try run.perform(playbook)
            }
        }
    }
}
