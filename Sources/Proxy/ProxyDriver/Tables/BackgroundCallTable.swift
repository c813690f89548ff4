import EventLoop
import ProxyCore

/// The background calls of all loops; any loop that still serves runs them.
final class BackgroundCallTable: Sendable {
    typealias Port = Mailbox<WorkerMessage>

    private struct State {
        var waiting: [BackgroundCall] = []
        /// The loops that still serve.
        var ports: [Port] = []
    }

    private let state = Locked(State())
    /// The most waiting background calls: more than all sessions and tokens that are kept.
    private static let most = 2 * 4096

    func enter(_ port: Port) { state.withLock { $0.ports.append(port) } }

    /// Removes a loop that ends.
    /// - Returns: true for the last loop.
    func leave(_ port: Port) -> Bool {
        state.withLock { state in
            state.ports.removeAll { $0 === port }
            return state.ports.isEmpty
        }
    }

    func take() -> [BackgroundCall] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// - Parameter testSession: the test session that needs the calls.
    func add(_ calls: [BackgroundCall], for testSession: BackgroundCall.Session? = nil) {
        guard !calls.isEmpty else { return }
        var backgroundCalls = calls
        if testSession != nil { for index in calls.indices { backgroundCalls[index].testSession = testSession } }
        let port = state.withLock { [backgroundCalls] state in
            state.waiting += backgroundCalls.prefix(max(0, Self.most - state.waiting.count))
            return state.ports.first
        }
        port?.post(.runBackgroundCalls)
    }
}
