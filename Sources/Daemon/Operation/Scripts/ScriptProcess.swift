internal import CLinux
import EventLoop
import Glibc
import Scripts

/// A process of a script, with its connection and the pipe of its output.
struct ScriptProcess {
    /// The reason why a script did not start, which follows its name.
    struct Fault: Error {
        let words: String
    }

    let id: pid_t

    /// Starts the program of these terms.
    /// - Returns: the process, its connection, the pipe of what it writes, and the folder for bodies, if it needs one.
    static func start(
        _ terms: ScriptTerms, _ command: [String]
    ) throws(Fault) -> (process: ScriptProcess, connection: Int32, output: Int32, folder: ScriptFolder?) {
        let (user, home) = try owner(terms)
        let program = try located(command.first ?? "", terms.folder)
        // before what has to be closed
        let folder = try folder(terms, user)
        var (pair, pipes): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, flags, 0, &pair) == 0 else { throw Fault(words: "has no socket: \(errorText)") }
        guard usher_pipe2(&pipes, O_CLOEXEC) == 0 else {
            pair.forEach { close($0) }
            throw Fault(words: "has no pipe: \(errorText)")
        }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(null)
            close(pair[1])
            close(pipes[1])
        }
        for number in [pair[0], pipes[0]] { _ = fcntl(number, F_SETFL, O_NONBLOCK) }
        let variables = environment(terms, home, folder).map { "\($0.key)=\($0.value)" }
        let id = ChildProcess.withStrings(command) { arguments in
            ChildProcess.withStrings(variables) { variables in
                program.withCString { program in
                    terms.folder.withCString { folder in
                        var child = usher_child(
                            program: program, folder: folder, arguments: arguments, environment: variables, input: null,
                            output: pipes[1], connection: pair[1], user: user.map { Int($0.user) } ?? -1,
                            group: user.map { Int($0.group) } ?? -1, memory: UInt(terms.memory ?? 0))
                        return usher_start(&child)
                    }
                }
            }
        }
        guard id > 0 else {
            close(pair[0])
            close(pipes[0])
            throw Fault(words: "cannot be started: \(errorText)")
        }
        return (ScriptProcess(id: id), pair[0], pipes[0], folder)
    }

    private static var errorText: String { String(cString: strerror(errno)) }

    /// The user to become, and the home folder.
    private static func owner(_ terms: ScriptTerms) throws(Fault) -> ((user: uid_t, group: gid_t)?, home: String?) {
        guard let name = terms.user else {
            guard geteuid() != 0 else {
                throw Fault(words: "must not run as root, as Usher does; add user: NAME to it")
            }
            return (nil, getenv("HOME").map { String(cString: $0) })
        }
        guard let entry = getpwnam(name)?.pointee else { throw Fault(words: "has the unknown user \"\(name)\"") }
        let home = entry.pw_dir.map { String(cString: $0) }
        guard entry.pw_uid != 0 else { throw Fault(words: "must not run as root; name another user") }
        if entry.pw_uid == geteuid() { return (nil, home) }
        guard geteuid() == 0 else {
            throw Fault(
                words: "has another user than Usher, which only root may give it; remove user, or name Usher's own")
        }
        return ((entry.pw_uid, entry.pw_gid), home)
    }

    /// The path of the program: as it is written, or by PATH.
    private static func located(_ program: String, _ folder: String) throws(Fault) -> String {
        if program.contains("/") {
            let path = program.hasPrefix("/") ? program : "\(folder)/\(program)"
            guard access(path, X_OK) == 0 else { throw Fault(words: "has no program \(path): \(errorText)") }
            // the folder is entered before the program is run
            return program
        }
        for place in searchPath.split(separator: ":") {
            let path = "\(place)/\(program)"
            if access(path, X_OK) == 0 { return path }
        }
        throw Fault(words: "has the program \(program), which is not in PATH")
    }

    private static var searchPath: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin" }

    private static func folder(
        _ terms: ScriptTerms, _ user: (user: uid_t, group: gid_t)?
    ) throws(Fault) -> ScriptFolder? {
        guard terms.needs == .body else { return nil }
        do throws(FileError) {
            return try ScriptFolder(user: user?.user ?? geteuid(), group: user?.group ?? getegid())
        } catch {
            throw Fault(words: "has no folder: \(error.description)")
        }
    }

    private static func environment(
        _ terms: ScriptTerms, _ home: String?, _ folder: ScriptFolder?
    ) -> [String: String] {
        var all = ["PATH": searchPath, "USHER_SCRIPT_FD": "3"]
        all["HOME"] = home
        if let folder {
            all["USHER_SCRIPT_FILES"] = folder.path
            all["USHER_SCRIPT_FILE_ABOVE"] = "\(terms.fileAbove)"
        }
        for name in ["LANG", "TZ", "TMPDIR"] { all[name] = getenv(name).map { String(cString: $0) } }
        return all.merging(terms.environment) { $1 }
    }

    /// How the process ended; nil while it runs. What it started ends with it.
    func ended() -> String? {
        var details = siginfo_t()
        let isKnown = waitid(P_PID, id_t(id), &details, WEXITED | WNOHANG | WNOWAIT) == 0
        guard isKnown ? details.si_signo != 0 : errno != EINTR else { return nil }
        // before its number may be another's
        if isKnown { kill(-id, SIGKILL) }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? "exit status \(status >> 8 & 0xFF)" : "killed by signal \(signal)"
    }

    /// Sends a signal to the process and those that it started.
    func signal(_ number: Int32) { if kill(-id, number) != 0 { kill(id, number) } }
}
