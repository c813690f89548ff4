import Authorization
import EventLoop
import Interception
import ProxyCore
import Testing

@testable import ProxyDriver

/// What loops know together, and how each is told of it.
@Suite("Tables of all loops")
struct SharedTableTests {
    private let server = AuthorizationServer(url: "http://am.test/am", host: "am.test", realms: ["/"])

    /// What comes into a loop's mailbox in one turn.
    private func heard<Message: Sendable>(_ mailbox: Mailbox<Message>) throws -> [Message] {
        let loop = try Loop()
        var messages: [Message] = []
        let port = try MailboxPort(loop: loop, mailbox) { messages.append($0) }
        let limit = try Timer(loop: loop, everyMilliseconds: 10_000) {}
        loop.turn()
        withExtendedLifetime((port, limit)) {}
        return messages
    }

    // MARK: background calls

    private func backgroundCall() throws -> BackgroundCall {
        let made = Locked<BackgroundCall?>(nil)
        _ = OwnSession(
            SessionSource(token: "S", carrier: .provided, affinity: nil), at: server, realm: "/", renewableUntil: 0
        ) { end in made.withLock { $0 = BackgroundCall(end) } }
        return try #require(made.withLock { $0 })
    }

    /// An overlay that stands in for AM must see the calls that its session leaves behind, too.
    @Test func backgroundCallsOfATestSessionHaveItsNewestRules() throws {
        let tables = SharedTables()
        let (old, new) = (Engine(Settings()), Engine(Settings()))
        tables.testSessions.open(TestSessionKey(id: "s-one", secret: "key"), old)
        var seen = 0
        let entry = try #require(tables.testSessions.changes(since: &seen)?["s-one"])
        tables.testSessions.adopt(new, for: "s-one")
        entry.tables.add([try backgroundCall()], to: tables.backgroundCalls)
        tables.own.add([try backgroundCall()], to: tables.backgroundCalls)
        let sessions = tables.backgroundCalls.take().map(\.testSession)
        #expect(sessions.map { $0?.id } == ["s-one", nil] && sessions[0]?.engine === new)
    }

    @Test func soManyBackgroundCallsWaitAndNoMore() throws {
        let table = BackgroundCallTable()
        let many = Array(repeating: try backgroundCall(), count: 5_000)
        for _ in 0..<2 { table.add(many) }
        #expect(table.take().count == 8_192 && table.take().isEmpty)
    }

    @Test func backgroundCallsAreForALoopThatServes() throws {
        let table = BackgroundCallTable()
        let (over, serving) = (try BackgroundCallTable.Port(), try BackgroundCallTable.Port())
        for port in [over, serving] { table.enter(port) }
        #expect(!table.leave(over))
        table.add([try backgroundCall()])
        let messages = try heard(serving)
        guard messages.count == 1, case .runBackgroundCalls = messages[0] else {
            Issue.record("not told of a background call: \(messages)")
            return
        }
        #expect(table.leave(serving), "it is the last one")
    }

    // MARK: credentials

    @Test func allWhoWaitForTheSameAreTold() throws {
        let table = CredentialTable<CookieJar>(SharedCredentials(.cookie))
        let key = CookieLoginKey(
            CookieLogin(interceptor: "couch", .form([]), place: "/", cookie: "a"), origin: "http://shop.test")
        let far = try Mailbox<WaitingTicket>()
        let now = LoginTime(milliseconds: 0, seconds: 0)
        guard case .fetch(let fetch) = table.tell({ $0.change { $0.ask(key, after: nil, waited: nil, now) } }) else {
            Issue.record("nobody makes it")
            return
        }
        let waiting = Set((0..<3).compactMap { _ in table.change { $0.line.enter(.fetch(key), far) } })
        #expect(table.change { $0.line.isAwaited(key) })
        _ = table.tell { $0.change { $0.won(CookieJar(), key, fetch: fetch, now) } }
        let told = try heard(far)
        #expect(told.count == 3 && Set(told) == waiting)
    }

    // MARK: sessions of clients

    @Test func whatAPageWonIsThatPages() {
        let table = LearnedTable(LearnedSessions())
        let client = LearnedClient(owner: "192.0.2.1")
        let session = SessionSource(token: "S", carrier: .provided, affinity: nil)
        table.learn(.session(session), of: client.at("http://a.test"), at: server.url, for: 60_000)
        func token(_ page: String) -> String? { table.find(client.at(page), at: server.url)?.session?.token }
        #expect(token("http://a.test") == "S" && token("http://b.test") == nil && token("") == nil)
    }
}
