import Glibc

/// A helper program that runs in the background: without input and output, and with only the environment variables that a desktop
/// needs.
struct QuietProcess {
    private let id: pid_t

    private static let passed = [
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
        "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    ]

    /// - Parameter command: a program, found by PATH, and its arguments.
    init(_ command: [String], adding variables: [String: String]) throws(CommandRun.Fault) {
        guard let program = command.first else {
            throw CommandRun.Fault(description: "there is no command to run", status: 2)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var ignored = sigset_t()
        sigemptyset(&none)
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        // its own process group, so that its children end with it
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for number in [Int32(1), 2] { posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0) }

        let all = ProcessEnvironment.all
        let environment = all.filter { Self.passed.contains($0.key) }.merging(variables) { _, new in new }
        var id = pid_t()
        let code = ChildProcess.withStrings(command) { arguments in
            ChildProcess.withStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawnp(&id, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else {
            throw CommandRun.Fault(description: "cannot be run: \(String(cString: strerror(code)))", status: 126)
        }
        self.id = id
    }

    /// The exit status; nil while it runs. Do not ask again after a status.
    var status: Int32? {
        var status: Int32 = 0
        switch waitpid(id, &status, WNOHANG) {
        case 0: return nil
        case id:
            let signal = status & 0x7F
            return signal == 0 ? status >> 8 & 0xFF : 128 + signal
        default: return 0
        }
    }

    /// Kills the program and its children.
    func kill() {
        _ = Glibc.kill(-id, SIGKILL)
        var status: Int32 = 0
        waitpid(id, &status, 0)
    }
}
