import Testing

@testable import EventLoop
@testable import Names

@Suite("The hosts file", .timeLimit(.minutes(1)))
struct HostsTests {
    private func found(_ name: String, _ text: String, _ limits: HostsTable.Limits = .init()) -> [String]? {
        HostsTable(Array(text.utf8), limits).addresses(of: name)?.map(\.host)
    }

    @Test(arguments: [
        "192.0.2.1 a.test", "\t192.0.2.1\t x.test  A.Test\r\n", "# a.test\n\n192.0.2.1 a.test#b.test\n::1",
        "192.0.2.1 a.test",
        "nonsense a.test\n192.0.2.1 a.test\n1.2.3 a.test\n", "192.0.2.1 a.test\n192.0.2.1 a.test",
    ])
    func aNameIsFound(_ text: String) {
        for name in ["a.test", "A.TEST", "a.test."] { #expect(found(name, text) == ["192.0.2.1"]) }
    }

    @Test(arguments: [
        "", "#192.0.2.1 a.test", "192.0.2.1\na.test", "192.0.2.1 aa.test a.tes", "192.0.2.1 b.test # a.test",
    ])
    func aNameIsNot(_ text: String) { #expect(found("a.test", text) == nil) }

    @Test func allItsAddressesInTheFilesOrder() {
        let text = "2001:db8::1 a.test\n192.0.2.2 a.test b.test\n192.0.2.1 b.test a.test\n"
        #expect(found("a.test", text) == ["2001:db8::1", "192.0.2.2", "192.0.2.1"])
        #expect(found("b.test", text) == ["192.0.2.2", "192.0.2.1"])
    }

    @Test func itHasLimits() {
        let text = "192.0.2.1 a.test\n192.0.2.2 a.test\n192.0.2.3 b.test\n192.0.2.4 a.test\n"
        let table = HostsTable(Array(text.utf8), .init(names: 1, addressesPerName: 2))
        #expect(table.addresses(of: "a.test")?.count == 2 && table.addresses(of: "b.test") == nil)
        #expect(table.remark == "names beyond the first 1 are not read")
        // half a line is none
        let cut = HostsTable(Array("192.0.2.1 a.test\n192.0.2.2 b.tes".utf8), .init(bytes: 31))
        #expect(cut.addresses(of: "a.test") != nil && cut.addresses(of: "b.tes") == nil && cut.remark != nil)
        #expect(HostsTable(Array(text.utf8)).remark == nil)
    }

    /// One loop that asks.
    private final class Asker {
        let loop: Loop
        var service: NameService?
        var answers: [NameAnswer] = []
        var changes = 0
        var remarks: [String] = []

        init(_ hosts: HostsFile) throws {
            loop = try Loop()
            service = try NameService(
                loop: loop, NameService.Settings(servers: ["127.0.0.1:1"], timeout: 200), hosts: hosts,
                changed: { [unowned self] in changes += 1 }, remarked: { [unowned self] in remarks.append($0) }
            ) { [unowned self] in
                if $0.isComplete { answers.append($0) }
            }
        }

        func ask(_ names: String...) throws -> [[String]] {
            answers = []
            loop.refreshNow()
            for name in names { service?.ask(name) }
            #expect(answers.isEmpty, "an answer from inside the call")
            try loop.turn(until: { answers.count == names.count })
            return names.map { name in answers.first { $0.host == name }?.addresses.map(\.host) ?? [] }
        }
    }

    @Test func itComesBeforeTheServersAndIsReadAnewWhenItChanges() throws {
        let file = try TemporaryFile("192.0.2.1 a.test\n")
        let asker = try Asker(HostsFile(file.path))
        // the second one waits for the file, too
        #expect(try asker.ask("a.test.", "A.test") == [["192.0.2.1"], ["192.0.2.1"]])
        #expect(asker.answers.allSatisfy { $0.timeToLive == 5 && $0.failure == nil } && asker.changes == 0)
        try file.write("192.0.2.22 a.test\n192.0.2.3 b.test\n")
        #expect(try asker.ask("a.test", "b.test", "c.test") == [["192.0.2.22"], ["192.0.2.3"], []])
        #expect(asker.changes == 1)
    }

    @Test func loopsShareWhatWasRead() throws {
        let file = try TemporaryFile("192.0.2.1 a.test\n")
        let hosts = HostsFile(file.path)
        for _ in 0..<3 { #expect(try Asker(hosts).ask("a.test") == [["192.0.2.1"]]) }
        let box = try Mailbox<HostsTable?>()
        let table = try #require(hosts.table(or: box))
        #expect(hosts.table(or: box) === table)
    }

    /// It is read once, not for each name.
    @Test func aLongFileCostsALookUpNothing() throws {
        let file = try TemporaryFile((0..<10_000).map { "0.0.0.0 \($0).blocked.test\n" }.joined())
        let asker = try Asker(HostsFile(file.path))
        func time(_ names: [String]) throws -> Int {
            let began = Loop.monotonicMilliseconds()
            asker.answers = []
            for name in names { asker.service?.ask(name) }
            try asker.loop.turn(until: { asker.answers.count == names.count })
            return Loop.monotonicMilliseconds() - began
        }
        let first = try time(["0.blocked.test"])
        // a thousand times that, were it read for each of them
        #expect(try time((0..<1_000).map { "\($0).blocked.test" }) < 50 * max(first, 20))
    }

    @Test func aFileThatIsTooLongIsSaidOnce() throws {
        let file = try TemporaryFile("192.0.2.1 a.test\n192.0.2.2 b.test\n")
        let hosts = HostsFile(file.path, .init(names: 1))
        let first = try Asker(hosts)
        #expect(try first.ask("a.test", "b.test") == [["192.0.2.1"], []])
        #expect(first.remarks == ["\(file.path) is too long: names beyond the first 1 are not read"])
        let second = try Asker(hosts)
        #expect(try second.ask("a.test") == [["192.0.2.1"]] && second.remarks.isEmpty)
    }

    @Test(arguments: ["/nonexistent/hosts", "/tmp"]) func aFileThatIsNone(_ path: String) throws {
        #expect(try Asker(HostsFile(path)).ask("a.test") == [[]])
    }
}
