import Authorization
import EventLoop
import ProxyCore

/// Calls that no client waits for: AM is told of sessions that nobody has use for any more. Each is made like a detour's call,
/// by a connection at whose other end nobody is.
final class Errands {
    private struct Errand {
        let connection: Connection
        /// Its other end.
        let pair: SocketPair
        let until: Int
    }

    private var errands: [Errand] = []
    private var waiting: [OwnSession.End] = []

    /// So many at a time; nobody waits for them.
    private static let most = 16
    /// Milliseconds that each may take: a drain waits for it.
    private static let limit = 2_000

    var isEmpty: Bool { errands.isEmpty && waiting.isEmpty }

    func add(_ ends: [OwnSession.End], _ worker: Worker) {
        waiting += ends
        begin(worker)
    }

    private func begin(_ worker: Worker) {
        while errands.count < Self.most, let end = waiting.popLast() {
            guard let pair = try? SocketPair(), let connection = worker.connect(pair) else { continue }
            errands.append(Errand(connection: connection, pair: pair, until: worker.loop.now + Self.limit))
            connection.logOut(end)
        }
    }

    /// Ends what is over, or takes too long.
    func sweep(_ worker: Worker) {
        for errand in errands where !errand.connection.isClosed {
            if errand.connection.machine.isIdle { errand.connection.closeGently() }
            if worker.loop.now >= errand.until { errand.connection.cut() }
        }
        errands.removeAll { $0.connection.isClosed }
        begin(worker)
    }

    func owns(_ connection: Connection) -> Bool { errands.contains { $0.connection === connection } }
}
