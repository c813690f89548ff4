import Authorization
import EventLoop
import Glibc

/// Stores documents in the state directory, one file per space, readable by the owner only. Another thread writes them
/// atomically. If that fails, it logs a line, keeps the documents in memory and retries.
///
/// Several processes may share the files. Under the folder's lock, each merges the others' changes with its own.
final class StateKeeper: StateStore, Sendable {
    fileprivate struct State {
        var spaces: [StateSpace: StateDocuments] = [:]
        /// The changes that are not on disk yet.
        var unwritten: [StateSpace: [String: DocumentChange]] = [:]
        /// The file versions of the last read or write.
        var versions: [StateSpace: FileVersion] = [:]
        /// Spaces whose files must be read again.
        var stale: Set<StateSpace> = []
        /// Spaces without room, which were reported.
        var full: Set<StateSpace> = []
        var closing = false
        /// True if a failure was reported.
        var hasFailed = false
    }

    private let state: Locked<State>
    private let files: StateFiles
    private let say: @Sendable (String) -> Void
    private let queue = WorkQueue("state")
    /// The interval of retries, in milliseconds.
    private static let retryInterval = 30_000
    /// The longest wait for the disk at the end, in milliseconds.
    private static let timeout = 3_000

    /// Reads the files. Unreadable ones are reported, and moved aside before they are overwritten.
    init(_ directory: StateDirectory, say: @escaping @Sendable (String) -> Void = { Console.error($0) }) {
        let files = StateFiles(directory)
        var first = State()
        var failure: String?
        for space in StateSpace.allCases {
            first.versions[space] = files.version(space)
            do throws(FileError) {
                first.spaces[space] = try files.read(space)
            } catch {
                failure = failure ?? "the stored state of \(space.rawValue) cannot be read: \(error.description)"
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
                "some state of \(key.space.rawValue) was not stored: the limits are "
                    + "\(StateDocuments.mostDocuments) documents and \(StateDocuments.mostBytes >> 20) MiB")
        }
        return isKept
    }

    func isCurrent(_ space: StateSpace) -> Bool {
        let version = files.version(space)
        if state.withLock({ $0.versions[space] == version }) { return true }
        act { $0.stale.insert(space) }
        return false
    }

    /// Reads the files again, because others may have changed them.
    func reread() { act { $0.stale = Set(StateSpace.allCases) } }

    /// Reads a space before it returns, after another process wrote it. It blocks, so never call it on a worker's loop.
    func readNow(_ space: StateSpace) {
        guard let (documents, version) = try? files.merge(space, [:]) else { return }
        state.withLock { $0.take(documents, version, space) }
    }

    /// Waits a limited time until everything is on disk. Never call it on a loop.
    func flush() {
        act { _ in }
        queue.rests(withinMilliseconds: Self.timeout)
    }

    /// Writes pending changes and ends.
    func close() {
        act { $0.closing = true }
        guard !queue.rests(withinMilliseconds: Self.timeout) else { return }
        say("the last changes of the state may be lost: the disk is too slow")
    }

    // MARK: work

    /// Changes the pending work and schedules it. A task that is already queued covers it.
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
                    // do not retry reading an unreadable file
                    state.withLock { $0.versions[space] = version }
                    if changes.isEmpty { unread = error } else { failure = error }
                    state.withLock { $0.giveBack(changes, space) }
                }
            }
            if let unread { say("the stored state stays unchanged: \(unread.description)") }
            if !unwritten.isEmpty { tell(failure?.description) }
            if failure == nil || isLast { return }
            // at the end, one last attempt
            isLast = state.wait(milliseconds: Self.retryInterval) { $0.closing ? true : nil } ?? false
        }
    }

    /// Reports the beginning and the end of a failure.
    private func tell(_ failure: String?) {
        let hadFailed = state.withLock { state in
            defer { state.hasFailed = failure != nil }
            return state.hasFailed
        }
        if let failure, !hadFailed {
            say("the state for restarts is only in memory for now: \(failure)")
        } else if failure == nil, hadFailed {
            say("the state for restarts is on disk again")
        }
    }
}

extension StateKeeper.State {
    /// Merges the file's content with later changes.
    fileprivate mutating func take(_ documents: StateDocuments, _ version: FileVersion?, _ space: StateSpace) {
        versions[space] = version
        var documents = documents
        for (name, change) in unwritten[space] ?? [:] { _ = documents.put(name, change, of: space) }
        spaces[space] = documents
    }

    /// Puts back changes that could not be written, unless newer ones exist.
    fileprivate mutating func giveBack(_ changes: [String: DocumentChange], _ space: StateSpace) {
        guard !changes.isEmpty else { return }
        unwritten[space, default: [:]].merge(changes) { newer, older in
            DocumentChange(before: older.before, value: newer.value)
        }
    }
}
