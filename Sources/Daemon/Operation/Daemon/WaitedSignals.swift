import Glibc

/// Blocks signals, so that one thread can wait for them. Threads that start later inherit the mask.
struct WaitedSignals {
    /// The mask before, for child processes.
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

    /// Waits for the next signal.
    /// - Returns: its number, and whether it comes from the terminal, which signals a whole process group.
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
