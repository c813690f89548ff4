import Glibc
import Testing

@testable import EventLoop
@testable import Names

@Suite("Looking names up", .timeLimit(.minutes(1)))
struct NameServiceTests {
    /// A loop that asks.
    private final class Asker {
        let loop: Loop
        var service: NameService?
        var answers: [NameAnswer] = []
        var changes = 0
        /// Called with each answer, after it was written down.
        var heard: (Asker, NameAnswer) -> Void = { _, _ in }

        var remarks: [String] = []

        init(
            _ servers: [String], timeout: Int = 5_000, file: String = "/dev/null", hosts: HostsFile? = nil
        ) throws {
            loop = try Loop()
            var settings = NameService.Settings(servers: servers, timeout: timeout)
            settings.file = file
            let hosts = try hosts ?? HostsFile.readAlready("/dev/null", on: loop)
            service = try NameService(
                loop: loop, settings, hosts: hosts, changed: { [unowned self] in changes += 1 },
                remarked: { [unowned self] in remarks.append($0) }
            ) {
                [unowned self] in
                answers.append($0)
                heard(self, $0)
            }
        }

        func ask(_ hosts: String...) throws {
            loop.refreshNow()
            for host in hosts { service?.ask(host) }
            // no answer comes from inside the call
            #expect(answers.isEmpty)
            try finish(hosts.count)
        }

        func finish(_ count: Int) throws { try loop.turn(until: { self.ended >= count }) }

        var ended: Int { answers.count(where: \.isComplete) }
        var addresses: [String] { answers.flatMap(\.addresses).map(\.host).sorted() }
        var failures: [NameFailure] { answers.compactMap(\.failure) }
    }

    private static func both(_ question: TestNameServer.Question) -> TestNameServer.Reply {
        .records(question.type == 1 ? [.a(1), .a(2)] : [.aaaa(1)])
    }

    @Test func bothFamiliesAreAskedOnce() throws {
        let server = try TestNameServer(Self.both)
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.addresses == ["192.0.2.1", "192.0.2.2", "2001:db8::1"] && asker.failures.isEmpty)
        #expect(asker.answers.map(\.isComplete) == [false, true] && asker.answers.allSatisfy { $0.timeToLive == 300 })
        #expect(server.asked("a.test", 1) == 1 && server.asked("a.test", 28) == 1)
    }

    @Test func theLeastTimeToLiveCountsAliasesIncluded() throws {
        let server = try TestNameServer { question in
            guard question.type == 1 else { return .records([]) }
            return .records([
                .alias("b.test", life: 20), .a(1, life: 60, owner: "b.test"), .a(2, life: 40, owner: "b.test"),
                // nobody asked for that
                .a(9, life: 5, owner: "c.test"),
            ])
        }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.addresses == ["192.0.2.1", "192.0.2.2"])
        #expect(asker.answers.first { !$0.addresses.isEmpty }?.timeToLive == 20)
    }

    @Test func recordsOfTheOtherFamilyAreNoAnswer() throws {
        let server = try TestNameServer { $0.type == 1 ? .records([.aaaa(1)]) : .records([.a(1)]) }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.addresses.isEmpty && asker.failures == [.unknown("it has no address", rcode: nil)])
    }

    @Test func aTimeBeyondAllTimesIsZero() throws {
        let server = try TestNameServer { $0.type == 1 ? .records([.a(1, life: .max)]) : .records([]) }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.answers.first { !$0.addresses.isEmpty }?.timeToLive == 0)
    }

    @Test func oneFamilyIsToldBeforeTheOtherIsKnown() throws {
        let isTold = Locked(false)
        let server = try TestNameServer { question in
            question.type == 28 && !isTold.withLock { $0 } ? .nothing : Self.both(question)
        }
        let asker = try Asker([server.authority], timeout: 1_200)
        asker.heard = { _, _ in isTold.withLock { $0 = true } }
        try asker.ask("a.test")
        #expect(asker.answers.map(\.addresses.count) == [2, 1] && asker.answers.map(\.isComplete) == [false, true])
    }

    @Test func aServerThatIsMuteAboutOneFamily() throws {
        let server = try TestNameServer { $0.type == 28 ? .nothing : Self.both($0) }
        let asker = try Asker([server.authority], timeout: 600)
        try asker.ask("a.test")
        #expect(asker.answers.map(\.isComplete) == [false, true] && asker.answers[0].addresses.count == 2)
        #expect(asker.failures.isEmpty)
    }

    @Test(arguments: [
        (3, "it does not exist (NXDOMAIN)", "NXDOMAIN"), (2, "the name server failed (SERVFAIL)", "SERVFAIL"),
        (5, "the name server refused to respond (REFUSED)", "REFUSED"),
        (4, "the name server does not know the question (NOTIMP)", "NOTIMP"),
        (1, "the name server does not understand the question (FORMERR)", "FORMERR"),
    ])
    func whatTheServerSaysIsTold(_ code: UInt16, _ words: String, _ rcode: String) throws {
        let server = try TestNameServer { _ in .code(code) }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.failures == [.unknown(words, rcode: rcode)])
        #expect(server.asked("a.test") == 1)
    }

    @Test func aNameWithoutAddresses() throws {
        let server = try TestNameServer { _ in .records([]) }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.failures == [.unknown("it has no address", rcode: nil)])
    }

    @Test func theNextServerIsAskedWhereOneDoesNotAnswer() throws {
        let failing = try TestNameServer { _ in .code(2) }
        let mute = try TestNameServer { _ in .nothing }
        let good = try TestNameServer(Self.both)
        for first in [failing, mute] {
            let asker = try Asker([first.authority, good.authority], timeout: 1_200)
            try asker.ask("a.test")
            #expect(asker.addresses.count == 3 && asker.failures.isEmpty)
        }
        // who says that there is no such name is believed
        let missing = try TestNameServer { _ in .code(3) }
        let asker = try Asker([missing.authority, good.authority])
        try asker.ask("b.test")
        #expect(asker.failures == [.unknown("it does not exist (NXDOMAIN)", rcode: "NXDOMAIN")])
        #expect(good.asked("b.test") == 0)
    }

    @Test func whereAllServersFailTheFirstOnesWordsAreTold() throws {
        let servers = try [2, 5].map { code in try TestNameServer { _ in .code(UInt16(code)) } }
        let asker = try Asker(servers.map(\.authority))
        try asker.ask("a.test")
        #expect(asker.failures == [.unknown("the name server failed (SERVFAIL)", rcode: "SERVFAIL")])
        #expect(servers[1].asked("a.test") > 0)
    }

    @Test func noServerThere() throws {
        let port: UInt16
        do { port = try ListeningSocket(loopback).address.port }
        let asker = try Asker(["127.0.0.1:\(port)"])
        try asker.ask("a.test")
        #expect(asker.failures == [.unknown("no name server could be asked", rcode: nil)])
    }

    @Test func deadNamesDoNotHoldUpOthers() throws {
        let server = try TestNameServer { $0.name.hasSuffix("dead.test") ? .nothing : Self.both($0) }
        let asker = try Asker([server.authority], timeout: 600)
        let began = asker.loop.refreshNow()
        for number in 0..<50 { asker.service?.ask("\(number).dead.test") }
        asker.service?.ask("a.test")
        try asker.finish(1)
        #expect(asker.answers.allSatisfy { $0.host == "a.test" } && asker.addresses.count == 3)
        try asker.finish(51)
        #expect(asker.failures == Array(repeating: .timedOut, count: 50))
        let lasted = asker.loop.refreshNow() - began
        #expect(lasted >= 550)
        // each was asked twice for each family, whatever else went on
        #expect((0..<50).allSatisfy { server.asked("\($0).dead.test") == 2 })
    }

    @Test func whatIsTooLongForADatagramComesByTCP() throws {
        let server = try TestNameServer { $0.isTCP ? Self.both($0) : .truncated }
        let asker = try Asker([server.authority])
        try asker.ask("a.test")
        #expect(asker.addresses.count == 3)
        #expect(server.asked("a.test", 1, tcp: true) == 1 && server.asked("a.test", 28, tcp: true) == 1)
    }

    @Test(arguments: [[], [0x81], [0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0], [UInt8](repeating: 0xFF, count: 500)])
    func rubbishIsNoAnswer(_ bytes: [UInt8]) throws {
        let server = try TestNameServer { _ in .bytes(bytes) }
        let asker = try Asker([server.authority], timeout: 400)
        try asker.ask("a.test")
        #expect(asker.addresses.isEmpty && asker.failures.count == 1)
    }

    @Test func aNameThatIsNone() throws {
        let asker = try Asker(["127.0.0.1:1"])
        try asker.ask(String(repeating: "a", count: 64) + ".test", "a..test")
        #expect(asker.failures == Array(repeating: .unknown("it is not a valid name", rcode: nil), count: 2))
    }

    @Test func whoHearsAnAnswerMayAskAgain() throws {
        let server = try TestNameServer(Self.both)
        let asker = try Asker([server.authority])
        asker.heard = { asker, answer in
            if answer.isComplete, asker.ended < 5 { asker.service?.ask("\(asker.ended).test") }
        }
        asker.loop.refreshNow()
        asker.service?.ask("a.test")
        try asker.finish(5)
        #expect(asker.failures.isEmpty && asker.addresses.count == 15)
    }

    @Test func aServiceMayEndWithQuestionsUnderWay() throws {
        let server = try TestNameServer { $0.type == 28 ? .nothing : Self.both($0) }
        let asker = try Asker([server.authority])
        asker.loop.refreshNow()
        for number in 0..<20 { asker.service?.ask("\(number).test") }
        try asker.loop.turn(until: { asker.answers.count == 20 })
        asker.service = nil
        try asker.loop.settle()
        #expect(asker.ended == 0)
    }

    @Test func theFileIsReadAnewWhenItChanges() throws {
        let file = try TemporaryFile("search one.test\noptions ndots:2\n")
        let gate = Locked(false)
        let server = try TestNameServer { question in
            if question.name == "late" { _ = gate.wait { $0 ? true : nil } }
            return Self.both(question)
        }
        let asker = try Asker([server.authority], file: file.path)
        asker.loop.refreshNow()
        asker.service?.ask("a.b")
        try asker.finish(1)
        #expect(server.asked("a.b.one.test") == 1 && asker.changes == 0)
        // a question that is under way ends all the same
        asker.service?.ask("late")
        try file.write("search other.test\noptions ndots:2\n")
        let later = Loop.monotonicMilliseconds() + 1_100
        try asker.loop.turn(until: { asker.loop.refreshNow() >= later })
        asker.service?.ask("c.d")
        #expect(asker.changes == 1)
        gate.signal { $0 = true }
        try asker.finish(3)
        #expect(server.asked("c.d.other.test") == 1 && server.asked("c.d.one.test") == 0)
        #expect(asker.failures.isEmpty && asker.addresses.count == 9)
    }

    @Test func otherServersAreAskedFromNowOn() throws {
        let (first, second) = (try TestNameServer(Self.both), try TestNameServer(Self.both))
        let asker = try Asker([first.authority])
        try asker.ask("a.test")
        var settings = NameService.Settings(servers: [second.authority])
        settings.file = "/dev/null"
        asker.service?.adopt(settings)
        asker.service?.adopt(settings)
        #expect(asker.changes == 1)
        asker.service?.ask("b.test")
        try asker.finish(2)
        #expect(first.asked("b.test") == 0 && second.asked("b.test") == 1)
    }

    @Test func aQuestionThatComesJustBeforeTheChangeIsAnswered() throws {
        let (first, second) = (try TestNameServer(Self.both), try TestNameServer(Self.both))
        let hosts = try TemporaryFile("127.0.0.1 localhost\n")
        let asker = try Asker([first.authority], hosts: HostsFile.readAlready(hosts.path, on: .init()))
        asker.loop.refreshNow()
        // the first one needs no server, and is told of before the second one was sent to any
        asker.service?.ask("localhost")
        asker.service?.ask("a.test")
        var settings = NameService.Settings(servers: [second.authority])
        settings.file = "/dev/null"
        asker.service?.adopt(settings)
        try asker.finish(2)
        #expect(first.asked("a.test", 1) == 1 && Set(asker.answers.map(\.host)) == ["localhost", "a.test"])
    }

    @Test(arguments: ["192.0.2.53", "127.0.0.1:x", "localhost:53"]) func serversThatAreNone(_ text: String) {
        // those are checked where they are read; here it is enough that nothing breaks
        #expect(throws: Never.self) { _ = try? Asker([text]) }
    }

    @Test(arguments: [
        ("127.0.0.1", ["127.0.0.1:80"]), ("::1", ["[::1]:80"]), ("localhost", ["127.0.0.1:80", "[::1]:80"]),
        ("am.LOCALHOST.", ["127.0.0.1:80", "[::1]:80"]),
    ])
    func numbersAndLocalNamesNeedNoLookUp(_ host: String, _ addresses: [String]) {
        #expect(NameService.immediate(host, port: 80)?.map(\.description) == addresses)
    }

    @Test(arguments: ["example.com", "localhost.example.com", "127.1", "0x7f000001", "2130706433"])
    func othersDo(_ host: String) { #expect(NameService.immediate(host, port: 80) == nil) }

    @Test func theVersionIsKnown() { #expect(NameService.libraryVersion.hasPrefix("1.")) }
}
