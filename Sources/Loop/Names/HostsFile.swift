import EventLoop
internal import Glibc

/// A file in the format of hosts(5), shared by all loops. It is read after each change, on another thread, because it may
/// be long.
final class HostsFile: Sendable {
    static let system = HostsFile("/etc/hosts")

    private struct State {
        /// Nil until the file was read once.
        var table: HostsTable?
        var stamp: FileStamp?
        /// The loops to notify. Not empty while the file is being read.
        var waiting: [Mailbox<HostsTable?>] = []
        var untold: String?
    }

    private let path: String
    private let limits: HostsTable.Limits
    private let state = Locked(State())
    private let work = WorkQueue("hosts")

    init(_ path: String, _ limits: HostsTable.Limits = HostsTable.Limits()) {
        self.path = path
        self.limits = limits
    }

    /// Returns the current table.
    /// - Returns: nil if the file has to be read first; the table then arrives in the mailbox.
    func table(or reply: Mailbox<HostsTable?>) -> HostsTable? {
        let stamp = FileStamp(path)
        let (table, begins) = state.withLock { state -> (HostsTable?, Bool) in
            if let table = state.table, state.stamp == stamp { return (table, false) }
            state.waiting.append(reply)
            return (nil, state.waiting.count == 1)
        }
        guard begins else { return table }
        do throws(WorkQueue.Refusal) {
            try work.run { [self] in
                // a change during the reading causes another one
                let stamp = FileStamp(path)
                finish(HostsTable(Self.bytes(of: path, limits.bytes), limits), stamp)
            }
        } catch {
            // the old table stays; the next look tries again
            finish(nil, nil)
        }
        return nil
    }

    /// Returns the warning about omitted entries, and clears it, so that one loop alone reports it.
    func takeWarning() -> String? {
        state.withLock { state in
            defer { state.untold = nil }
            return state.untold.map { "\(path) is too long: \($0)" }
        }
    }

    private func finish(_ table: HostsTable?, _ stamp: FileStamp?) {
        let (waiting, known) = state.withLock { state in
            if let table {
                state.table = table
                state.stamp = stamp
                state.untold = table.remark
            }
            defer { state.waiting = [] }
            return (state.waiting, state.table ?? HostsTable())
        }
        for reply in waiting { reply.post(known) }
    }

    /// Returns the content; empty if the file is missing or unreadable.
    private static func bytes(of path: String, _ limit: Int) -> [UInt8] {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return [] }
        let descriptor = Descriptor(owning: number)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while bytes.count < limit {
            let count = Glibc.read(descriptor.number, &piece, min(piece.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}
