import Foundation
import Testing

@Suite("Playbooks")
struct PlaybookTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Playbooks")

    static let names = names(in: folder)

    static func names(in folder: URL) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return files.filter { $0.hasSuffix(".play") }.sorted()
    }

    /// Has a play performed in all deliveries, so many random ones among them.
    static func play(
        _ name: String, in folder: URL, random: Range<UInt64>, _ perform: (Playbook, Delivery) throws -> Void
    ) throws {
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let playbook = try Playbook(text)
        for delivery in Delivery.all + random.map({ Delivery.random($0) }) {
            do {
                try perform(playbook, delivery)
            } catch {
                Issue.record("\(name), \(delivery): \(error)")
                break
            }
        }
    }

    @Test func thereArePlays() { #expect(Self.names.count >= 13) }

    @Test(arguments: names)
    func play(_ name: String) throws {
        try Self.play(name, in: Self.folder, random: 4..<24) {
            var run = PlaybookRun($1)
            try run.perform($0)
        }
    }

    /// What a CONNECT leads to is no message, and which request may follow which is the matter of HTTP/1's codec.
    static let messages = names.filter {
        !$0.hasPrefix("tunnel") && !$0.hasPrefix("tls") && !$0.hasPrefix("keep-alive")
    }

    /// The exchange knows messages alone: told of them on streams, it says the very same.
    @Test(arguments: messages)
    func playAsMessages(_ name: String) throws {
        try Self.play(name, in: Self.folder, random: 4..<24) {
            var run = PlaybookRun($1, asMessages: true)
            try run.perform($0)
        }
    }

    @Test func aPlayThatIsWrongFails() throws {
        for text in [
            "config plain\nclient sends\n| GET http://a.test/ HTTP/1.1\n| Host: a.test\n|\n",
            "config plain\nclient gets\n|-x\n", "config plain\nconnects a.test:80\n", "config odd\n", "client ends\n",
            "config plain\nrecord GET http://a.test/ 200\n", "config plain\njumps\n",
            "config plain\nclient is closed\n", "config plain\nclient secures a.test\n",
            "config plain\norigin greeted a.test\n", "config plain\nclient greets\n",
        ] {
            let playbook = try Playbook(text)
            #expect(throws: Playbook.Fault.self) {
                var run = PlaybookRun(.whole)
                try run.perform(playbook)
            }
        }
    }
}
