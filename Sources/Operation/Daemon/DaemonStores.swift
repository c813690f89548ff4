import Configuration
import EventLoop
import Journal
import ProxyCore
import ProxyDriver

/// What outlives a reload: what all workers share, what is kept on the disk, the journal.
final class DaemonStores {
    let tables: SharedTables
    let state: StateKeeper
    private(set) var journal: JournalThread?
    private let tokenKeeper: TokenKeeper
    private let notifier = Notifier()

    init() throws(SystemError) {
        let directory = StateDirectory(ProcessEnvironment.all)
        state = StateKeeper(directory)
        tables = SharedTables(
            transactions: TransactionTable { [notifier] in notifier.tell($0, $1, $2) }, state: state)
        tokenKeeper = TokenKeeper(state, directory, tables.tokens)
    }

    /// - Parameters:
    ///   - isAsked: there is a door by which flows are asked for.
    ///   - afterAnother: another process wrote until now.
    func begin(_ snapshot: Snapshot, isAsked: Bool, afterAnother: Bool) throws(SystemError) {
        if afterAnother { state.reread() }
        try keepJournal(snapshot, isAsked: isAsked)
        keepTokens(snapshot)
    }

    /// Whom nobody can ask keeps nothing.
    func keepJournal(_ snapshot: Snapshot, isAsked: Bool) throws(SystemError) {
        let (settings, key) = (snapshot.journal, snapshot.stateKey)
        if let journal { return try journal.adopt(settings ?? JournalStore.Settings(memory: 0, bodies: 0), key: key) }
        guard let settings, isAsked else { return }
        journal = try JournalThread(settings, StateDirectory(ProcessEnvironment.all), key: key)
    }

    private func keepTokens(_ snapshot: Snapshot) { tokenKeeper.adopt(snapshot.settings.tokens, snapshot.stateKey) }

    /// Before workers act by it.
    func adopt(_ snapshot: Snapshot) {
        state.reread()
        keepTokens(snapshot)
    }

    /// Once workers act by it.
    func forgetLogins(goneFrom snapshot: Snapshot) {
        tables.sessions.keep(loginsOf: snapshot.settings.authorization)
    }

    /// Another process is to have what only one of two may have.
    func stepAside() {
        tokenKeeper.release()
        journal?.leaveDisk()
    }

    /// It does not come.
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
