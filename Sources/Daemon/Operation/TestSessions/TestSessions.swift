import Configuration
import Control
import EventLoop
import Expectations
import Formats
import Glibc
import Interception
import Journal
import ProxyCore
import ProxyDriver

/// The open test sessions. They change on one thread of their own, in order, so that no loop compiles rules.
final class TestSessions: TestSessionDirectory, Sendable {
    /// What the sessions build on.
    struct Base: Sendable {
        var snapshot: Snapshot
        var engine: Engine
    }

    /// A loader of overlays on a configuration, with the values of their variables.
    typealias Loading = @Sendable (Snapshot, [String: String]) -> OverlayLoader

    private struct State {
        var base: Base
        var sessions: [OpenTestSession] = []
    }

    private let state: Locked<State>
    private let table: TestSessionTable
    private let close: @Sendable (String) -> Void
    private let workers: [WorkerThread]
    private let address: ListeningAddress?
    private let loading: Loading
    private let journal: JournalThread?
    let ledgers = SessionLedgers()
    private let work = WorkQueue("sessions", waiting: mostWaiting)

    private static let most = 1000
    private static let mostWaiting = 1000
    private static let mostRules = 1000

    /// - Parameters:
    ///   - address: where clients reach the proxy.
    ///   - journal: nil if flows are not recorded.
    init(
        _ base: Base, _ tables: SharedTables, _ workers: [WorkerThread], at address: ListeningAddress?,
        _ loading: @escaping Loading, _ journal: JournalThread?
    ) {
        state = Locked(State(base: base))
        table = tables.testSessions
        close = { [ledgers] id in
            ledgers.close(id)
            tables.closeTestSession(id)
            for worker in workers { worker.close(testSession: id) }
        }
        (self.workers, self.address, self.loading, self.journal) = (workers, address, loading, journal)
    }

    // MARK: looking

    var all: [TestSessionView] { state.withLock { $0.sessions.map(\.view) } }

    func find(_ id: String) -> TestSessionView? {
        state.withLock { state in state.sessions.first { $0.key.id == id || $0.name == id }?.view }
    }

    // MARK: changing

    func open(_ wish: TestSessionWish, _ promise: ControlPromise) {
        run(promise) { sessions throws(ControlProblem) in try sessions.opened(wish) }
    }

    func close(_ id: String, _ promise: ControlPromise) {
        run(promise) { sessions throws(ControlProblem) in
            guard let session = sessions.removed(where: { $0.key.id == id }).first else { throw Self.gone(id) }
            return ControlAnswer(session.view.json)
        }
    }

    func add(_ rule: JSONValue, to id: String, _ promise: ControlPromise) {
        run(promise) { sessions throws(ControlProblem) in
            var session = try sessions.session(id)
            guard session.added.count < Self.mostRules else {
                throw ControlProblem(429, "the session has \(Self.mostRules) rules; remove some")
            }
            let added = try session.add(rule, sessions.loader(session.variables))
            sessions.keep(session)
            sessions.learnSecrets()
            return ControlAnswer(added.json, status: 201)
        }
    }

    func remove(_ rule: String, from id: String, _ promise: ControlPromise) {
        run(promise) { sessions throws(ControlProblem) in
            var session = try sessions.session(id)
            guard session.remove(rule) else {
                throw .unknown("added rule", rule, among: session.added.map(\.rule.name))
            }
            sessions.keep(session)
            return ControlAnswer(["rules": .array(session.view.rules.map(\.json))])
        }
    }

    func expect(_ expectation: JSONValue, of id: String, _ promise: ControlPromise) {
        run(promise) { sessions throws(ControlProblem) in
            let session = try sessions.session(id)
            let known = sessions.ledgers.expectations(of: id)
            let added = try session.expectations(expectation, sessions.loader(session.variables), beside: known)
            try sessions.mustRecord(added)
            guard known.count + added.count <= Self.mostRules else {
                throw ControlProblem(429, "the session has \(known.count) expectations; \(Self.mostRules) are possible")
            }
            if let twice = added.first(where: { new in known.contains { $0.name == new.name } }) {
                throw ControlProblem(
                    409, "the session has the expectation \"\(twice.name)\" already; nothing was added")
            }
            sessions.ledgers.add(added, to: id)
            return ControlAnswer(["added": .strings(added.map(\.name))], status: 201)
        }
    }

    /// The report comes after all flows that have ended by now.
    func report(_ id: String, wait: Int, _ promise: ControlPromise) {
        let until = Loop.monotonicMilliseconds() + wait
        let (journal, ledgers) = (journal, ledgers)
        workers.flush {
            // the journal runs it after the flows before
            if journal?.ask({ _ in ledgers.report(id, until: until, promise) }) != true {
                ledgers.report(id, until: 0, promise)
            }
        }
    }

    /// Expectations judge recorded flows.
    private func mustRecord(_ expectations: [Expectation]) throws(ControlProblem) {
        if !expectations.isEmpty, journal == nil {
            throw ControlProblem(
                409, "expectations need the journal, which the configuration turns off; see journal.memory")
        }
    }

    /// Ends the sessions whose time is over.
    func sweep(_ now: Int) {
        ledgers.sweep()
        guard state.withLock({ $0.sessions.contains { $0.ends <= now } }) else { return }
        run { _ = $0.removed { $0.ends <= now } }
    }

    /// Puts the sessions on a new generation of the configuration. One that does not fit it keeps its rules.
    func adopt(_ base: Base) {
        // at once, for sessions that begin later
        state.withLock { $0.base = base }
        run { sessions in
            for var session in sessions.state.withLock({ $0.sessions }) {
                session.rebuild(on: base, sessions.loader(session.variables))
                sessions.keep(session)
            }
            sessions.learnSecrets()
        }
    }

    // MARK: on the thread

    private func run(_ body: @escaping @Sendable (TestSessions) -> Void) {
        // a full queue changes the sessions soon enough
        try? work.run { [self] in body(self) }
    }

    private func run(
        _ promise: ControlPromise, _ body: @escaping @Sendable (TestSessions) throws(ControlProblem) -> ControlAnswer
    ) {
        do throws(WorkQueue.Refusal) {
            try work.run { [self] in
                do throws(ControlProblem) { promise.keep(try body(self)) } catch { promise.refuse(error) }
            }
        } catch {
            promise.refuse(ControlProblem(503, error.description))
        }
    }

    private func opened(_ wish: TestSessionWish) throws(ControlProblem) -> ControlAnswer {
        let (base, count, isTaken) = state.withLock { state in
            (state.base, state.sessions.count, state.sessions.contains { wish.name != nil && $0.name == wish.name })
        }
        if let name = wish.name, isTaken {
            throw ControlProblem(409, "a session named \(name) is open; choose another name, or stop it")
        }
        guard count < Self.most else {
            throw ControlProblem(429, "\(count) test sessions are open; stop some, or give them a shorter ttl")
        }
        let robot = wish.hasRobot ? try freeRobot() : nil
        var session = try OpenTestSession(wish, robot, on: base, loader(wish.variables), now: time(nil))
        let expectations = base.snapshot.expectations + session.overlay.expectations
        try mustRecord(expectations)
        ledgers.open(session.key.id, expectations)
        table.open(session.key, session.engine(on: base))
        if wish.hasPort { session.port = try openPort(for: session.key.id) }
        let view = session.view
        state.withLock { [session] in $0.sessions.append(session) }
        learnSecrets()
        var answer = view.json
        answer["proxy"] = .string(address.map { session.proxy(at: $0) } ?? "")
        if let password = robot?.password { answer["password"] = .string(password) }
        answer["header"] = ["name": .string(TestSessionKey.field), "value": .string(session.key.fieldValue)]
        return ControlAnswer(answer, status: 201)
    }

    /// A test user that no open session has.
    private func freeRobot() throws(ControlProblem) -> Robot {
        let (robots, lent) = state.withLock { ($0.base.snapshot.robots, Set($0.sessions.compactMap(\.robot?.user))) }
        if let free = robots.first(where: { !lent.contains($0.user) }) { return free }
        guard !robots.isEmpty else {
            throw ControlProblem(422, "the configuration has no robots; add some under robots")
        }
        var problem = ControlProblem(409, "all \(robots.count) robots are lent; stop a session, or add robots")
        problem.retryAfter = 1
        throw problem
    }

    private func openPort(for id: String) throws(ControlProblem) -> String {
        guard let address, let worker = workers.randomElement() else {
            throw ControlProblem(503, "the proxy does not listen yet")
        }
        do throws(SystemError) {
            let socket = try ListeningSocket(SocketAddress(address: address.address.address, port: 0))
            let bound = ListeningAddress(address: socket.address, isSecure: address.isSecure)
            worker.open(
                [WorkerListener(descriptor: socket.take().release(), isSecure: address.isSecure)], testSession: id)
            return bound.proxy.url
        } catch {
            close(id)
            throw ControlProblem(503, "no port can be opened: \(error.reason)")
        }
    }

    private func loader(_ variables: [String: String]) -> OverlayLoader {
        loading(state.withLock { $0.base.snapshot }, variables)
    }

    private func session(_ id: String) throws(ControlProblem) -> OpenTestSession {
        guard let session = state.withLock({ $0.sessions.first { $0.key.id == id } }) else { throw Self.gone(id) }
        return session
    }

    private static func gone(_ id: String) -> ControlProblem { ControlProblem(404, "the test session \(id) has ended") }

    /// Puts a changed session into effect.
    private func keep(_ session: OpenTestSession) {
        let base = state.withLock { state in
            if let index = state.sessions.firstIndex(where: { $0.key == session.key }) {
                state.sessions[index] = session
            }
            return state.base
        }
        table.adopt(session.engine(on: base), for: session.key.id)
    }

    /// Tells the journal the secrets of the configuration and of all open sessions.
    private func learnSecrets() {
        let (known, secrets) = state.withLock { state in
            (state.base.snapshot.journal?.known ?? [], state.sessions.flatMap(\.secrets))
        }
        journal?.learn(known + secrets.map { Array($0.utf8) })
    }

    private func removed(where isOver: (OpenTestSession) -> Bool) -> [OpenTestSession] {
        let over = state.withLock { state in
            defer { state.sessions.removeAll(where: isOver) }
            return state.sessions.filter(isOver)
        }
        for session in over { close(session.key.id) }
        if over.contains(where: { !$0.secrets.isEmpty }) { learnSecrets() }
        return over
    }
}
