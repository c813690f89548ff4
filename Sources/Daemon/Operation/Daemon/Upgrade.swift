import Control
import EventLoop
import Glibc
import ProxyDriver

/// Copies of the listening sockets, to be passed to another process while the daemon serves.
final class ListenerCopies {
    private(set) var sockets: [WorkerListener] = []

    init(_ sockets: [WorkerListener]) {
        self.sockets = sockets.compactMap { socket in
            // above the descriptor numbers of the new process
            let copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, Int32(sockets.count) + Handover.first + 1)
            return copy < 0 ? nil : WorkerListener(descriptor: copy, isSecure: socket.isSecure)
        }
    }

    /// Closes the copies, so that no new client waits for this process.
    func close() {
        for socket in sockets { Glibc.close(socket.descriptor) }
        sockets = []
    }

    deinit { close() }
}

/// Replaces this process by another one: starts the program with the same arguments, passes it the listening sockets, and drains
/// once it serves.
final class Upgrade {
    enum News: Sendable {
        /// The new process is ready; release what only one process may have.
        case isReady
        case serves
        case failed(String)
    }

    enum State {
        case idle
        case underWay(pid: Int)
        case failed(String)
        case done(pid: Int)
    }

    private(set) var state = State.idle
    private let news: Mailbox<News>
    private var port: EventSource?
    private let turn = Locked(false)
    private let work = WorkQueue("upgrade")
    /// The path at the start of this process, because another program may have that path by now.
    private let program = ProgramPath.own

    /// In milliseconds. The longest wait for the new process to become ready.
    private static let patience = 60_000
    /// In milliseconds. The time for a failed process to end.
    private static let closingTime = 1_000

    init(_ loop: Loop, _ hear: @escaping (News) -> Void) throws(SystemError) {
        news = try Mailbox()
        port = try MailboxPort(loop: loop, news) { [unowned self] message in
            switch (message, state) {
            case (.failed(let reason), _): state = .failed(reason)
            case (.serves, .underWay(let pid)): state = .done(pid: pid)
            default: break
            }
            hear(message)
        }
    }

    /// Call it after releasing what only one process may have.
    func letGo() { turn.signal { $0 = true } }

    /// - Parameter settle: called before the new process continues; it writes pending state to disk.
    func begin(
        _ sockets: [WorkerListener], servesAll: Bool, settle: @escaping @Sendable () -> Void
    ) throws(ControlProblem) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ControlProblem(503, "the system cannot create a socket: \(String(cString: strerror(errno)))")
        }
        let pid: pid_t
        do throws(SystemError) {
            pid = try start(sockets, servesAll: servesAll, line: ends[1])
        } catch {
            close(ends[0])
            close(ends[1])
            throw ControlProblem(503, "\(program) cannot be started: \(error.reason)")
        }
        close(ends[1])
        state = .underWay(pid: Int(pid))
        turn.withLock { $0 = false }
        let (line, news, turn) = (ends[0], news, turn)
        do throws(WorkQueue.Refusal) {
            try work.run {
                news.post(Self.follow(pid, HandoverLine(line), turn, { news.post(.isReady) }, settle))
                close(line)
            }
        } catch {
            kill(pid, SIGKILL)
            close(line)
            state = .failed(error.description)
            throw ControlProblem(503, error.description)
        }
    }

    private static func follow(
        _ pid: pid_t, _ line: HandoverLine, _ turn: Locked<Bool>, _ ready: () -> Void, _ settle: () -> Void
    ) -> News {
        func end(_ said: String?) -> News {
            let status = ended(pid)
            if let said, said.hasPrefix("failed ") { return .failed(String(said.dropFirst(7))) }
            let how =
                switch status {
                case nil: "did not become ready in time"
                case let status? where status & 0x7F == 0: "ended with status \(status >> 8 & 0xFF)"
                case let status?: "was ended by signal \(status & 0x7F)"
                }
            return .failed("the new process \(how); see its messages in the log")
        }
        let said = line.next(within: patience)
        guard said == "ready" else { return end(said) }
        ready()
        _ = turn.wait { $0 ? true : nil }
        settle()
        line.tell("go")
        let answer = line.next(within: patience)
        return answer == "serving" ? .serves : end(answer)
    }

    /// Ends a process that is no longer wanted.
    /// - Returns: its status if it ended by itself, else nil.
    private static func ended(_ pid: pid_t) -> Int32? {
        var status: Int32 = 0
        // a process that has closed its socket may need a moment to end
        let wait = PatientWait(interval: 10, limit: closingTime)
        repeat { if waitpid(pid, &status, WNOHANG) == pid { return status } } while wait.next()
        kill(pid, SIGKILL)
        waitpid(pid, &status, 0)
        return nil
    }

    // MARK: new process

    private func start(_ sockets: [WorkerListener], servesAll: Bool, line: Int32) throws(SystemError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // above the descriptor numbers of the new process
        let own = fcntl(line, F_DUPFD_CLOEXEC, Int32(sockets.count) + Handover.first + 1)
        guard own >= 0 else { throw SystemError("fcntl") }
        defer { close(own) }
        for (number, source) in (sockets.map(\.descriptor) + [own]).enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Handover.first + Int32(number))
        }
        var environment = ProcessEnvironment.all
        // refers to this process
        environment["WATCHDOG_PID"] = nil
        environment[Handover.variable] = Handover.text(sockets, servesAll: servesAll)
        var pid = pid_t()
        let arguments = [program] + CommandLine.arguments.dropFirst()
        let code = ChildProcess.withStrings(arguments) { arguments in
            ChildProcess.withStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawn(&pid, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        return pid
    }
}
