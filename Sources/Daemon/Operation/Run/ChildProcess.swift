import Glibc

/// A program that this process started.
struct ChildProcess {
    private let id: pid_t

    /// The limit of open files at the start of this process. A server raises its own limit, and programs that iterate over all
    /// descriptors must not inherit that.
    static var fileLimit: rlimit {
        var limit = rlimit()
        getrlimit(files, &limit)
        return limit
    }

    private static let files = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))

    /// Starts a program with this process's standard input and error, and its output or, if redirected, its error.
    /// - Parameters:
    ///   - command: a program, found by PATH, and its arguments.
    ///   - signals: the signals blocked in the program.
    ///   - files: its limit of open files.
    /// - Throws: `CommandRun.Fault` with status 127 if there is no such program, 126 if it cannot be run.
    init(
        _ command: [String], environment: [String: String], signals: sigset_t, files: rlimit,
        turnsOutputToError: Bool
    ) throws(CommandRun.Fault) {
        guard let program = command.first else {
            throw CommandRun.Fault(description: "there is no command to run", status: 2)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = signals
        var ignored = sigset_t()
        sigemptyset(&ignored)
        // servers ignore SIGPIPE, but programs in a pipeline need it
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if turnsOutputToError { posix_spawn_file_actions_adddup2(&actions, 2, 1) }

        let own = Self.fileLimit
        var given = files
        setrlimit(Self.files, &given)
        var id = pid_t()
        let code = Self.withStrings(command) { arguments in
            Self.withStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawnp(&id, program, &actions, &attributes, arguments, environment)
            }
        }
        var again = own
        setrlimit(Self.files, &again)
        guard code == 0 else {
            let isMissing = code == ENOENT || code == ENOTDIR
            let words =
                isMissing && !program.contains("/")
                ? "\(program): command not found in PATH" : "\(program): \(String(cString: strerror(code)))"
            throw CommandRun.Fault(description: words, status: isMissing ? 127 : 126)
        }
        self.id = id
    }

    /// Waits until the program has ended, and passes signals on.
    /// - Returns: its status; 128 plus the number of the signal that killed it.
    func wait(_ signals: WaitedSignals) -> Int32 {
        while true {
            let (number, isFromTerminal) = signals.next()
            if number == SIGCHLD {
                var status: Int32 = 0
                guard waitpid(id, &status, WNOHANG) == id else { continue }
                let signal = status & 0x7F
                return signal == 0 ? status >> 8 & 0xFF : 128 + signal
            }
            // the terminal has sent the signal to the program, too
            if !isFromTerminal { kill(id, number) }
        }
    }

    static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return body([nil]) }
            return body(base)
        }
    }
}
