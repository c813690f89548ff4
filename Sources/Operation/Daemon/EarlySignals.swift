import Glibc

/// Signals that would end a process which is not yet there to hear them: they wait until it is.
public enum EarlySignals {
    private static var all: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGHUP, SIGUSR1] { sigaddset(&set, number) }
        return set
    }

    /// Before any thread is made, which would hear them.
    public static func hold() {
        var set = all
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    static func release() {
        var set = all
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
