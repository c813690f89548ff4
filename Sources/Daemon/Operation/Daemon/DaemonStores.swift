import Configuration
import Control
import EventLoop
import Journal
import ProxyCore
import ProxyDriver

/// The state that outlives a reload: tables shared by the workers, documents on disk, and the journal.
final class DaemonStores {
    let tables: SharedTables
    let state: StateKeeper
    let recordings = RecordingTable()
    let scripts: ScriptHost
    private(set) var journal: JournalThread?
    private(set) var testSessions: TestSessions?
    private let tokenKeeper: TokenKeeper
    private let notifier = Notifier()

    init(_ scripts: ScriptHost) throws(SystemError) {
        self.scripts = scripts
        let directory = StateDirectory(ProcessEnvironment.all)
        state = StateKeeper(directory)
        tables = SharedTables(state: state) { [notifier] in notifier.tell($0, $1, $2) }
        tokenKeeper = TokenKeeper(state, directory, tables.tokens)
    }

    /// - Parameters:
    ///   - isAsked: true if the admin API is available.
    ///   - afterAnother: true if another process wrote the files until now.
    func begin(_ snapshot: Snapshot, isAsked: Bool, afterAnother: Bool) throws(SystemError) {
        if afterAnother { state.reread() }
        try keepJournal(snapshot, isAsked: isAsked)
        keepTokens(snapshot)
    }

    /// Without the admin API, nothing can read a journal, so none is kept.
    func keepJournal(_ snapshot: Snapshot, isAsked: Bool) throws(SystemError) {
        let (settings, key) = (snapshot.journal, snapshot.stateKey)
        if let journal { return try journal.adopt(settings ?? JournalStore.Settings(memory: 0, bodies: 0), key: key) }
        guard let settings, isAsked else { return }
        journal = try JournalThread(settings, StateDirectory(ProcessEnvironment.all), key: key)
    }

    /// - Parameter address: where clients reach the proxy.
    func beginTestSessions(
        _ base: TestSessions.Base, _ workers: [WorkerThread], at address: ListeningAddress?,
        _ loading: @escaping TestSessions.Loading
    ) {
        let sessions = TestSessions(base, tables, workers, at: address, loading, journal)
        _ = journal?.follow { [ledgers = sessions.ledgers] in ledgers.observe($0) }
        testSessions = sessions
    }

    private func keepTokens(_ snapshot: Snapshot) { tokenKeeper.adopt(snapshot.settings.tokens, snapshot.stateKey) }

    /// Call it before workers use the configuration.
    func adopt(_ snapshot: Snapshot) {
        state.reread()
        keepTokens(snapshot)
    }

    /// Call it after workers use the configuration.
    func forgetLogins(goneFrom snapshot: Snapshot) {
        tables.sessions.keep(loginsOf: snapshot.settings.authorization)
    }

    /// Releases the resources that only one process may have, for another process.
    func stepAside() {
        tokenKeeper.release()
        journal?.leaveDisk()
    }

    /// Takes them back if the other process failed.
    func stepBack(_ snapshot: Snapshot) {
        keepTokens(snapshot)
        journal?.goOn()
    }

    func close() {
        state.close()
        journal?.close()
    }

    func endNotifying() { notifier.end() }
}
