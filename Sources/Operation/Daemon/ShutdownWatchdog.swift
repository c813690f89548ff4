import EventLoop
import Glibc

/// Ends the process where its loops do not: a thread that no loop can hold up.
final class ShutdownWatchdog: Sendable {
    private enum State {
        case idle
        /// When the process has to have ended, and what is said if it has not.
        case waiting(Int, @Sendable () -> Void)
        case over
    }

    /// What the process ends with then (EX_SOFTWARE of sysexits.h).
    static let status: Int32 = 70
    /// How long `onTimeout` may take, in milliseconds.
    private static let timeout = 4_000

    private let state = Locked(State.idle)

    /// The last call counts.
    /// - Parameter onTimeout: called on a thread of its own, which has a few seconds before the process ends.
    func expectEnd(within milliseconds: Int, onTimeout: @escaping @Sendable () -> Void) {
        let limit = Loop.monotonicMilliseconds() + milliseconds
        let isFirst = state.withLock { state in
            defer { if case .over = state {} else { state = .waiting(limit, onTimeout) } }
            if case .idle = state { return true }
            return false
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try SystemThread(name: "end") { [self] in watch() }.detach()
        } catch {
            Console.error("nobody watches whether the workers end: \(error.description)")
        }
    }

    /// Everything has ended.
    func cancel() { state.withLock { $0 = .over } }

    private func watch() {
        while true {
            let onTimeout = state.withLock { state -> (@Sendable () -> Void)? in
                guard case .waiting(let limit, let onTimeout) = state, Loop.monotonicMilliseconds() >= limit else {
                    return nil
                }
                state = .over
                return onTimeout
            }
            if let onTimeout {
                // its words may wait for whoever does not read them
                let speaker = try? SystemThread(name: "timeout", onTimeout)
                _ = speaker?.join(withinMilliseconds: Self.timeout)
                _exit(Self.status)
            }
            usleep(50_000)
        }
    }
}
