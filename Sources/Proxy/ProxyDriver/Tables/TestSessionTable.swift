internal import EventLoop
public import ProxyCore
internal import Synchronization

/// The open test sessions of all loops. A loop takes the lock only after one was opened, changed or closed.
public final class TestSessionTable: Sendable {
    struct Entry: Sendable {
        let key: TestSessionKey
        private(set) var engine: Engine
        let tables: IsolatedTables

        init(_ key: TestSessionKey, _ engine: Engine) {
            (self.key, self.engine) = (key, engine)
            tables = IsolatedTables(BackgroundCall.Session(key.id, engine))
        }

        mutating func adopt(_ engine: Engine) {
            self.engine = engine
            tables.testSession?.withLock { $0.engine = engine }
        }
    }

    private let entries = Locked<[String: Entry]>([:])
    /// Changes whenever an entry does.
    private let version = Atomic(0)

    public func open(_ key: TestSessionKey, _ engine: Engine) {
        change { $0[key.id] = Entry(key, engine) }
    }

    /// Replaces the rules of a session. Exchanges under way keep theirs.
    public func adopt(_ engine: Engine, for id: String) { change { $0[id]?.adopt(engine) } }

    /// Closes a session. Its exchanges under way go on to their end.
    /// - Parameter backgroundCalls: ends the session's own logins at AM.
    func close(_ id: String, _ backgroundCalls: BackgroundCallTable) {
        guard let entry = change({ $0.removeValue(forKey: id) }) else { return }
        entry.tables.sessions.keep(loginsOf: [])
        let revocations = entry.tables.tokens.takeRevocations(by: entry.engine.settings.tokens)
        entry.tables.add(revocations, to: backgroundCalls)
    }

    @discardableResult
    private func change<Result>(_ body: (inout [String: Entry]) -> Result) -> Result {
        defer { version.wrappingAdd(1, ordering: .releasing) }
        return entries.withLock(body)
    }

    /// The entries, if they have changed since that version.
    func changes(since seen: inout Int) -> [String: Entry]? {
        let now = version.load(ordering: .acquiring)
        guard now != seen else { return nil }
        seen = now
        return entries.withLock { $0 }
    }
}

/// One loop's access to the test sessions.
final class TestSessionDesk: TestSessionStore {
    private let table: TestSessionTable
    /// Makes the loop's stores for the tables of a session.
    private let stores: (IsolatedTables) -> SharedStores
    private var version = 0
    private var open: [String: (key: TestSessionKey, session: TestSession)] = [:]

    init(_ table: TestSessionTable, stores: @escaping (IsolatedTables) -> SharedStores) {
        self.table = table
        self.stores = stores
    }

    func session(_ id: String) -> TestSession? {
        refresh()
        return open[id]?.session
    }

    func session(of key: TestSessionKey) -> TestSession? {
        refresh()
        guard let found = open[key.id], Self.areEqual(found.key.secret.utf8, key.secret.utf8) else { return nil }
        return found.session
    }

    private func refresh() {
        guard let entries = table.changes(since: &version) else { return }
        open = open.filter { entries[$0.key] != nil }
        for (id, entry) in entries where open[id]?.session.engine !== entry.engine {
            let session = TestSession(id, entry.engine, open[id]?.session.stores ?? stores(entry.tables))
            open[id] = (entry.key, session)
        }
    }

    /// Compares in a time that tells nothing of the secret but its length.
    private static func areEqual(_ one: String.UTF8View, _ other: String.UTF8View) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
