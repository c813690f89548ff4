import Authorization
public import Configuration
import EventLoop
import Glibc
import Interception
import Journal
import ProxyCore
public import ProxyDriver

/// A program that runs with a proxy of its own, in this process and on a free port of loopback: `usher run`.
public struct CommandRun {
    /// Why nothing was run, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
        /// For the exit of this process, as shells and env(1) have it.
        public let status: Int32
    }

    private let snapshot: Snapshot
    private let bundle: TrustBundle
    private let environment: CommandEnvironment
    /// Where the access log goes; nil for nowhere.
    public var log: Int32?
    /// Takes the records in place of the log. Called once, on the worker's thread.
    public var recorder: (@Sendable () -> any Recorder)?
    /// What the command writes to standard output goes to standard error.
    public var turnsOutputToError = false
    /// Called before the command begins, with who answers for what went through so far: earlier runs, where these are kept.
    public var atStart: ((ControlClient) -> Void)?
    /// Called when the command has ended and all that it asked is in the journal, with who answers for that; not where nobody
    /// does.
    public var atEnd: ((ControlClient) -> Void)?

    /// What became of a command.
    public struct Outcome: Sendable {
        /// 128 and the signal's number where one killed it.
        public let status: Int32
        public let tally: RunTally
    }

    /// How long what is still under way when the command has ended may take, in milliseconds.
    private static let drainLimit = 1_000
    /// What the proxy has to end after that.
    private static let grace = 5_000

    /// - Parameters:
    ///   - environment: what the command gets beside the variables of the proxy.
    ///   - isPrivate: nothing is kept on the disk, and the configuration's own port answers nothing.
    public init(
        _ snapshot: Snapshot, bundle: TrustBundle, environment: CommandEnvironment, isPrivate: Bool = false
    ) {
        var snapshot = snapshot
        snapshot.listeners = [Listener("127.0.0.1:0")].compactMap { $0 }
        snapshot.workers = 1
        // the port is this command's alone: who may use the daemon's, and with which password, is another matter
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

    /// Flows of earlier runs are kept as well.
    public var keepsEarlier: Bool { snapshot.journal?.disk != nil }

    /// Runs a command to its end. Call it on the main thread, with no other thread under way: it takes the process's
    /// signals for itself.
    /// - Parameter command: a program, looked for in PATH, and its arguments. At least one.
    /// - Throws: `Fault` where the proxy does not start or the command is not found.
    public func callAsFunction(_ command: [String]) throws(Fault) -> Outcome {
        // an ignored SIGCHLD would take the status away
        signal(SIGCHLD, SIG_DFL)
        let signals = WaitedSignals()
        defer { signals.restore() }
        let files = ChildProcess.fileLimit
        let proxy = try start()
        do throws(Fault) {
            let variables = ProxyVariables(proxy: proxy.address, bundle: bundle, environment: environment.variables)
            var inherited = environment.variables
            for (name, value) in variables.list { inherited[name] = value }
            // commands behind it speak to this proxy
            inherited[ControlPath.variable] = control
            if asksPerson {
                Console.error("what asks for a person is answered with usher transactions --socket \(control)")
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

    // MARK: the proxy

    private enum Start {
        case pending
        case ready(SocketAddress)
        /// Nothing goes through any more.
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

        /// - Parameter ask: asks for what went through, while it can still be asked for.
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
            // a loop that is stuck does not keep the command's status from whoever waits for it
            guard isDrained != nil, thread.join(withinMilliseconds: limit) else {
                return Console.error("the proxy is stuck; the process ends without it")
            }
            if let words = failure.withLock({ $0 }) { throw Fault(description: words, status: 1) }
        }
    }

    /// Where the command's proxy is asked for what went through, and told what it asks for.
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
            // a daemon's own socket is left to the daemon
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
            throw Fault(description: "no proxy could be started: \(error.description)", status: 1)
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
