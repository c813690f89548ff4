internal import CLibevent
internal import Glibc

/// A named system thread, for loops and for blocking work.
public struct SystemThread: Sendable {
    private let handle: pthread_t
    private let hasEnded: Locked<Bool>

    private final class Start {
        let body: @Sendable () -> Void
        let hasEnded = Locked(false)
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// - Throws: `SystemError` if the system cannot create a thread.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var handle = pthread_t()
        // blocks all signals for the new thread; a dedicated thread waits for them
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        // keeps signals of the thread's own faults
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&all, fault) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Start(body)
        let context = Unmanaged.passRetained(start)
        let code = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                start.body()
                start.hasEnded.signal { $0 = true }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SystemError("pthread_create", code: code)
        }
        usher_pthread_setname(handle, String(name.prefix(15)))
        self.handle = handle
        hasEnded = start.hasEnded
    }

    /// Waits until the thread has ended. Call it once.
    public func join() { pthread_join(handle, nil) }

    /// Detaches the thread, instead of `join`.
    public func detach() { pthread_detach(handle) }

    /// Waits for the end of the thread up to the limit, then detaches it. Call it once.
    /// - Returns: whether it has ended.
    public func join(withinMilliseconds limit: Int) -> Bool {
        // not pthread_clockjoin_np, which the thread sanitizer does not know
        guard hasEnded.wait(milliseconds: limit, { $0 ? true : nil }) != nil else {
            detach()
            return false
        }
        join()
        return true
    }
}
