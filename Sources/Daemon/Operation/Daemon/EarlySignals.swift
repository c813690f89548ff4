import Glibc

/// Blocks signals that would end the process before it handles them.
public enum EarlySignals {
    private static var all: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGHUP, SIGUSR1] { sigaddset(&set, number) }
        return set
    }

    /// Call it before any thread starts, because threads inherit the mask.
    public static func hold() {
        var set = all
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    static func release() {
        var set = all
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
