import Authorization
import Testing

@Suite("Sessions that are learned")
struct LearnedSessionsTests {
    private final class Book {
        private var sessions: LearnedSessions

        init(capacity: Int = 4096) { sessions = LearnedSessions(capacity: capacity) }

        var count: Int { sessions.count }
        func find(_ key: LearnedSessions.Key, now: Int) -> LearnedSessions.Found? { sessions.find(key, now: now) }
        func learn(_ news: LearnedSessions.News, _ key: LearnedSessions.Key, for time: Int, now: Int) {
            sessions.learn(news, key, for: time, now: now)
        }
        func forget(_ key: LearnedSessions.Key) { sessions.forget(key) }
        func ended(_ session: String) { sessions.ended(session) }
        func replaced(_ session: String, by other: SessionSource) { sessions.replaced(session, by: other) }
    }

    private func key(_ client: Int, _ owner: Int = 0) -> LearnedSessions.Key {
        .init(client: UInt128(client), owner: UInt128(owner))
    }

    private func session(_ token: String) -> LearnedSessions.News { .session(.init(token: token, carrier: .provided)) }

    @Test func eachClientHasItsOwn() {
        let learned = Book()
        learned.learn(session("A"), key(1), for: 100, now: 0)
        learned.learn(session("B"), key(2), for: 100, now: 0)
        #expect(learned.find(key(1), now: 1)?.session?.token == "A")
        #expect(learned.find(key(2), now: 1)?.session?.token == "B")
        #expect(learned.find(key(3), now: 1) == nil)
        learned.forget(key(1))
        #expect(learned.find(key(1), now: 1) == nil && learned.find(key(2), now: 1) != nil)
        #expect(learned.find(key(2), now: 100) == nil && learned.count == 0)
    }

    @Test func theLatestLoginCounts() {
        let learned = Book()
        learned.learn(session("A"), key(1), for: 100, now: 0)
        learned.learn(.idToken("i"), key(1), for: 100, now: 1)
        #expect(learned.find(key(1), now: 2)?.idToken == "i" && learned.find(key(1), now: 2)?.session?.token == "A")
        // the token of one user is not shown for the next
        learned.learn(session("B"), key(1), for: 100, now: 2)
        #expect(learned.find(key(1), now: 3)?.session?.token == "B" && learned.find(key(1), now: 3)?.idToken == nil)
        // what was over before does not come back
        learned.learn(.idToken("j"), key(1), for: 100, now: 500)
        #expect(learned.find(key(1), now: 501)?.session == nil)
    }

    @Test func anEndIsTheEndForAll() {
        let learned = Book()
        for client in 1...3 { learned.learn(session(client == 3 ? "B" : "A"), key(client), for: 100, now: 0) }
        learned.replaced("A", by: .init(token: "A2", carrier: .provided, affinity: "02"))
        #expect(learned.find(key(1), now: 1)?.session == .init(token: "A2", carrier: .provided, affinity: "02"))
        learned.ended("A2")
        #expect(learned.count == 1 && learned.find(key(3), now: 1) != nil)
    }

    @Test func whatIsOverIsNotKept() {
        let learned = Book()
        for client in 0..<5 { learned.learn(session("x"), key(client), for: 100, now: 1_000) }
        learned.learn(session("y"), key(9), for: 100_000, now: 70_000)
        #expect(learned.count == 1)
    }

    /// Compared byte for byte: texts that look alike may differ.
    @Test func sessionsAreBytes() {
        let learned = Book()
        learned.learn(session("e\u{301}"), key(1), for: 100, now: 0)
        learned.ended("\u{e9}")
        #expect(learned.count == 1)
        learned.ended("e\u{301}")
        #expect(learned.count == 0)
    }

    @Test func nobodyPushesOutWhatOthersHave() {
        let learned = Book(capacity: 100)
        learned.learn(session("mine"), key(1, 1), for: 1_000, now: 0)
        for client in 0..<500 { learned.learn(session("x"), key(client + 10, 2), for: 1_000, now: client + 1) }
        #expect(learned.count == 65 && learned.find(key(1, 1), now: 600) != nil)
        // the latest of the one that has many
        #expect(learned.find(key(509, 2), now: 600) != nil && learned.find(key(10, 2), now: 600) == nil)
        for owner in 3..<80 { learned.learn(session("y"), key(owner + 1_000, owner), for: 1_000, now: 600) }
        #expect(learned.count == 100 && learned.find(key(1, 1), now: 601) != nil)
    }
}
