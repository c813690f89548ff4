import EventLoop
import TLSEngine

/// Reads the system's authorities on a thread of its own while the configuration is read: a start waits for both at once.
public final class TrustAhead: Sendable {
    private enum State {
        case reading
        case read(SystemTrust?)
    }

    private let state = Locked(State.reading)

    private let thread: SystemThread?

    public init() {
        do throws(SystemError) {
            thread = try SystemThread(name: "trust") { [state] in
                let trust = SystemTrust()
                state.signal { $0 = .read(trust) }
            }
        } catch {
            thread = nil
            state.withLock { $0 = .read(nil) }
        }
    }

    /// Once, before the process ends: its end takes OpenSSL apart, which must not be at work here then.
    public func finish() { thread?.join() }

    /// What was read, once; nil where it has to be read by whoever needs it.
    func take() -> SystemTrust? {
        state.wait { state in
            guard case .read(let trust) = state else { return nil }
            state = .read(nil)
            return .some(trust)
        }
    }
}
