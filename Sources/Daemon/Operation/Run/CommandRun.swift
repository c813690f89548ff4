import Authorization
public import Configuration
import EventLoop
import Glibc
import Journal
import ProxyCore
public import ProxyDriver

/// Runs a program with its own proxy, in this process and on a free loopback port: `usher run`.
public struct CommandRun {
    /// The reason why nothing was run, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
        /// The exit status, as shells and env(1) use it.
        public let status: Int32
    }

    private let snapshot: Snapshot
    private let bundle: TrustBundle
    private let environment: CommandEnvironment
    /// The descriptor of the access log; nil for none.
    public var log: Int32?
    /// Replaces the log. Called once, on the worker's thread.
    public var recorder: (@Sendable () -> any Recorder)?
    /// True to redirect the command's standard output to standard error.
    public var turnsOutputToError = false
    /// Called before the command starts, with a client for the flows so far: those of earlier runs, if they are stored.
    public var atStart: ((ControlClient) -> Void)?
    /// Called when the command has ended and all its flows are in the journal, with a client for them. Not called if no admin
    /// socket is available.
    public var atEnd: ((ControlClient) -> Void)?

    /// The result of a command.
    public struct Outcome: Sendable {
        /// 128 plus the number of the signal that killed it, if one did.
        public let status: Int32
        public let tally: RunTally
    }

    /// In milliseconds. The time for exchanges that are active when the command ends.
    private static let drainLimit = 1_000
    /// In milliseconds. The time for the proxy to end after that.
    private static let grace = 5_000

    /// - Parameters:
    ///   - environment: the command's variables, in addition to those of the proxy.
    ///   - isPrivate: true to store nothing on disk and to disable the configured admin port.
    public init(
        _ snapshot: Snapshot, bundle: TrustBundle, environment: CommandEnvironment, isPrivate: Bool = false
    ) {
        var snapshot = snapshot
        snapshot.listeners = [Listener("127.0.0.1:0")].compactMap { $0 }
        snapshot.workers = 1
        // only this command uses the port, so the daemon's clients and passwords do not apply
        snapshot.clients = ClientPolicy()
        snapshot.settings.users = nil
        if isPrivate {
            snapshot.admin = nil
            snapshot.journal?.disk = nil
        }
        self.snapshot = snapshot
        self.bundle = bundle
        self.environment = environment
    }

    /// True if the journal contains flows of earlier runs.
    public var keepsEarlier: Bool { snapshot.journal?.disk != nil }

    /// Runs a command to its end. Call it on the main thread without other threads, because it handles the process's signals.
    /// - Parameter command: a program, found by PATH, and its arguments. At least one.
    /// - Throws: `Fault` if the proxy does not start or the command is not found.
    public func callAsFunction(_ command: [String]) throws(Fault) -> Outcome {
        // with an ignored SIGCHLD, the status would be lost
        signal(SIGCHLD, SIG_DFL)
        let signals = WaitedSignals()
        defer { signals.restore() }
        let files = ChildProcess.fileLimit
        let proxy = try start()
        do throws(Fault) {
            let variables = ProxyVariables(proxy: proxy.address, bundle: bundle, environment: environment.variables)
            var inherited = environment.variables
            for (name, value) in variables.list { inherited[name] = value }
            // commands that the program runs reach this proxy's socket
            inherited[ControlPath.variable] = control
            if asksPerson {
                Console.error("step-ups that ask for a person wait in usher transactions --socket \(control)")
            }
            atStart?(ControlClient([control]))
            let child = try ChildProcess(
                command, environment: inherited, signals: signals.before, files: files,
                turnsOutputToError: turnsOutputToError)
            let status = child.wait(signals)
            try proxy.end(atEnd.map { atEnd in { atEnd(ControlClient([control])) } })
            return Outcome(status: status, tally: proxy.tally.withLock { $0 })
        } catch {
            try? proxy.end()
            throw error
        }
    }

    // MARK: proxy

    private enum Start {
        case pending
        case ready(SocketAddress)
        /// All exchanges have ended.
        case drained
        case failed(String)
    }

    private struct Proxy {
        let address: ProxyAddress
        let thread: SystemThread
        let ending: Mailbox<Void>
        let failure: Locked<String?>
        let state: Locked<Start>
        let tally: Locked<RunTally>

        /// - Parameter ask: queries the flows while the socket is still available.
        func end(_ ask: (() -> Void)? = nil) throws(Fault) {
            ending.post(())
            let limit = CommandRun.drainLimit + CommandRun.grace
            let isDrained = state.wait(milliseconds: limit) { state -> Bool? in
                switch state {
                case .drained: true
                case .failed: false
                case .pending, .ready: nil
                }
            }
            if isDrained == true {
                ask?()
                ending.post(())
            }
            // a stuck loop must not delay the command's status
            guard isDrained != nil, thread.join(withinMilliseconds: limit) else {
                return Console.error("the proxy is stuck; the process ends anyway")
            }
            if let words = failure.withLock({ $0 }) { throw Fault(description: words, status: 1) }
        }
    }

    /// The control socket of the command's proxy.
    private var control: String { ControlPath.ofCommand(environment.variables) }

    private var asksPerson: Bool { snapshot.settings.authorization.contains(where: \.asksPerson) }

    private func start() throws(Fault) -> Proxy {
        let state = Locked(Start.pending)
        let failure = Locked<String?>(nil)
        let tally = Locked(RunTally())
        let ending: Mailbox<Void>
        let thread: SystemThread
        do throws(SystemError) {
            ending = try Mailbox<Void>()
            var options = ServeOptions()
            options.isDaemon = false
            options.log = log
            options.recorder = recorder
            options.drainLimit = Self.drainLimit
            options.ending = ending
            options.tally = tally
            options.drained = { state.signal { $0 = .drained } }
            // a daemon's own socket is not used
            options.control = .at(control)
            options.ready = { addresses in
                state.signal { $0 = addresses.first.map { .ready($0.address) } ?? .failed("there is no listener") }
            }
            thread = try SystemThread(name: "proxy") { [snapshot, options] in
                do throws(Supervisor.StartFault) {
                    try Supervisor(snapshot, options).run()
                } catch {
                    failure.withLock { $0 = error.description }
                    state.signal { $0 = .failed(error.description) }
                }
            }
        } catch {
            throw Fault(description: "the proxy cannot be started: \(error.description)", status: 1)
        }
        let started = state.wait { state -> Result<SocketAddress, Fault>? in
            switch state {
            case .pending: nil
            case .drained: .failure(Fault(description: "the proxy ended at once", status: 1))
            case .ready(let address): .success(address)
            case .failed(let words): .failure(Fault(description: words, status: 1))
            }
        }
        switch started {
        case .success(let address):
            return Proxy(
                address: ProxyAddress(host: address.host, port: address.port), thread: thread, ending: ending,
                failure: failure, state: state, tally: tally)
        case .failure(let fault):
            thread.join()
            throw fault
        }
    }
}
