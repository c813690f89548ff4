import Glibc

/// Signals that one thread waits for instead of being interrupted by them. Threads that are made later hear none either.
struct WaitedSignals {
    /// What was blocked before; a child is to begin with it.
    let before: sigset_t
    private let waited: sigset_t

    init() {
        var (waited, before) = (sigset_t(), sigset_t())
        sigemptyset(&waited)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD] { sigaddset(&waited, number) }
        pthread_sigmask(SIG_BLOCK, &waited, &before)
        self.waited = waited
        self.before = before
    }

    /// Waits for the next one.
    /// - Returns: its number, and whether the terminal sent it, which sends it to a whole group of processes.
    func next() -> (number: Int32, isFromTerminal: Bool) {
        var waited = waited
        var details = siginfo_t()
        while true {
            let number = sigwaitinfo(&waited, &details)
            // SI_KERNEL
            if number > 0 { return (number, details.si_code == 0x80) }
        }
    }

    func restore() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
