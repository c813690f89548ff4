import Authorization
import EventLoop
import Glibc

/// Keeps documents in the state directory, one file for each space, which its owner alone may read. They are written on
/// another thread, whole or not at all. Where that fails, a line says so, they are kept in memory, and it is tried again.
///
/// Several processes may keep theirs in the same place: under the folder's lock each takes in what the others have written
/// and changes what it changed itself.
final class StateKeeper: StateStore, Sendable {
    fileprivate struct State {
        var spaces: [StateSpace: StateDocuments] = [:]
        /// What is not on the disk yet.
        var unwritten: [StateSpace: [String: DocumentChange]] = [:]
        /// The files as they were read or written last.
        var versions: [StateSpace: FileVersion] = [:]
        /// Spaces whose files are to be read again.
        var stale: Set<StateSpace> = []
        /// Spaces that had no room, of which that was said.
        var full: Set<StateSpace> = []
        var closing = false
        /// It was said that what changes is in memory alone.
        var hasFailed = false
    }

    private let state: Locked<State>
    private let files: StateFiles
    private let say: @Sendable (String) -> Void
    private let queue = WorkQueue("state")
    /// Until what failed is tried again, in milliseconds.
    private static let retryInterval = 30_000
    /// How long the end waits for the disk, in milliseconds.
    private static let timeout = 3_000

    /// Reads what is there. What cannot be read is said, and put aside before anything is written in its place.
    init(_ directory: StateDirectory, say: @escaping @Sendable (String) -> Void = { Console.error($0) }) {
        let files = StateFiles(directory)
        var first = State()
        var failure: String?
        for space in StateSpace.allCases {
            first.versions[space] = files.version(space)
            do throws(FileError) {
                first.spaces[space] = try files.read(space)
            } catch {
                failure = failure ?? "what is kept for \(space.rawValue) is not known: \(error.description)"
            }
        }
        if let failure { say(failure) }
        (state, self.files, self.say) = (Locked(first), files, say)
    }

    func value(of key: StateKey) -> [UInt8]? { state.withLock { $0.spaces[key.space]?.values[key.name] } }

    func documents(in space: StateSpace) -> [String: [UInt8]] { state.withLock { $0.spaces[space]?.values ?? [:] } }

    @discardableResult
    func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
        var (isKept, isNews) = (true, false)
        act { state in
            var documents = state.spaces[key.space] ?? StateDocuments()
            let old = documents.values[key.name]
            var value = old
            body(&value)
            guard value != old else { return }
            isKept = documents.put(key.name, value)
            guard isKept else {
                isNews = state.full.insert(key.space).inserted
                return
            }
            state.spaces[key.space] = documents
            state.unwritten[key.space, default: [:]][key.name, default: DocumentChange(before: old, value: old)].value =
                value
        }
        if isNews {
            say(
                "something was not kept for \(key.space.rawValue): there is no room for more than "
                    + "\(StateDocuments.mostDocuments) things and \(StateDocuments.mostBytes >> 20) MiB")
        }
        return isKept
    }

    func isCurrent(_ space: StateSpace) -> Bool {
        let version = files.version(space)
        if state.withLock({ $0.versions[space] == version }) { return true }
        act { $0.stale.insert(space) }
        return false
    }

    /// Has the files read once more: others may have changed them.
    func reread() { act { $0.stale = Set(StateSpace.allCases) } }

    /// Reads a space anew before it returns: another process kept its own there until now. Never on a loop that serves.
    func readNow(_ space: StateSpace) {
        guard let (documents, version) = try? files.merge(space, [:]) else { return }
        state.withLock { $0.take(documents, version, space) }
    }

    /// Waits until everything is on the disk, but not for long. Never on a loop.
    func flush() {
        act { _ in }
        queue.rests(withinMilliseconds: Self.timeout)
    }

    /// Writes what is left and ends.
    func close() {
        act { $0.closing = true }
        guard !queue.rests(withinMilliseconds: Self.timeout) else { return }
        say("what changed last may not have been kept: the disk takes too long")
    }

    // MARK: the work

    /// Changes what is to be done, and has it done. What waits for its turn already does this, too.
    private func act(_ body: (inout State) -> Void) {
        state.signal(body)
        do throws(WorkQueue.Refusal) {
            try queue.run { [self] in work() }
        } catch .noThread(let error) {
            // the next change tries again
            tell(error.description)
        } catch {}
    }

    private func work() {
        var isLast = false
        while true {
            let (unwritten, stale) = state.withLock { state in
                defer { (state.unwritten, state.stale) = ([:], []) }
                return (state.unwritten, state.stale)
            }
            var (failure, unread): (FileError?, FileError?)
            for space in Set(unwritten.keys).union(stale) {
                let changes = unwritten[space] ?? [:]
                let version = files.version(space)
                do throws(FileError) {
                    let (merged, version) = try files.merge(space, changes)
                    state.withLock { $0.take(merged, version, space) }
                } catch {
                    // what cannot be read is not waited for
                    state.withLock { $0.versions[space] = version }
                    if changes.isEmpty { unread = error } else { failure = error }
                    state.withLock { $0.giveBack(changes, space) }
                }
            }
            if let unread { say("what is kept stays as it was: \(unread.description)") }
            if !unwritten.isEmpty { tell(failure?.description) }
            if failure == nil || isLast { return }
            // at the end it is tried once more
            isLast = state.wait(milliseconds: Self.retryInterval) { $0.closing ? true : nil } ?? false
        }
    }

    /// Says when it begins to fail, and when that is over.
    private func tell(_ failure: String?) {
        let hadFailed = state.withLock { state in
            defer { state.hasFailed = failure != nil }
            return state.hasFailed
        }
        if let failure, !hadFailed {
            say("what is to be kept over restarts is in memory alone for now: \(failure)")
        } else if failure == nil, hadFailed {
            say("what is to be kept over restarts is on the disk again")
        }
    }
}

extension StateKeeper.State {
    /// What is on the disk now, with what has changed since.
    fileprivate mutating func take(_ documents: StateDocuments, _ version: FileVersion?, _ space: StateSpace) {
        versions[space] = version
        var documents = documents
        for (name, change) in unwritten[space] ?? [:] { _ = documents.put(name, change, of: space) }
        spaces[space] = documents
    }

    /// What could not be written is still to be written, unless it has changed since.
    fileprivate mutating func giveBack(_ changes: [String: DocumentChange], _ space: StateSpace) {
        guard !changes.isEmpty else { return }
        unwritten[space, default: [:]].merge(changes) { newer, older in
            DocumentChange(before: older.before, value: newer.value)
        }
    }
}
