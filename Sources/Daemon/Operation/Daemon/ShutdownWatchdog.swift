import EventLoop
import Glibc

/// Ends the process from a separate thread if its loops do not end.
final class ShutdownWatchdog: Sendable {
    private enum State {
        case idle
        /// The deadline of the process, and the message to print at that time.
        case waiting(Int, @Sendable () -> Void)
        case over
    }

    /// The exit status in that case (EX_SOFTWARE of sysexits.h).
    static let status: Int32 = 70
    /// The time limit of `onTimeout`, in milliseconds.
    private static let timeout = 4_000

    private let state = Locked(State.idle)

    /// Sets the deadline. The last call counts.
    /// - Parameter onTimeout: called on a separate thread, a few seconds before the process ends.
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
            Console.error("the end of the workers cannot be watched: \(error.description)")
        }
    }

    /// Cancels the deadline.
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
                // printing may block if standard error is not read
                let speaker = try? SystemThread(name: "timeout", onTimeout)
                _ = speaker?.join(withinMilliseconds: Self.timeout)
                _exit(Self.status)
            }
            usleep(50_000)
        }
    }
}
