import Authorization
public import Configuration
import EventLoop
import Glibc
import Interception
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

    /// How long what is still under way when the command has ended may take, in milliseconds.
    private static let drainLimit = 1_000
    /// What the proxy has to end after that.
    private static let grace = 5_000

    /// - Parameter environment: what the command gets beside the variables of the proxy.
    public init(_ snapshot: Snapshot, bundle: TrustBundle, environment: CommandEnvironment) {
        var snapshot = snapshot
        snapshot.listeners = [Listener("127.0.0.1:0")].compactMap { $0 }
        snapshot.workers = 1
        // the port is this command's alone: who may use the daemon's, and with which password, is another matter
        snapshot.clients = ClientPolicy()
        snapshot.settings.users = nil
        self.snapshot = snapshot
        self.bundle = bundle
        self.environment = environment
    }

    /// Runs a command to its end. Call it on the main thread, with no other thread under way: it takes the process's
    /// signals for itself.
    /// - Parameter command: a program, looked for in PATH, and its arguments. At least one.
    /// - Returns: the command's status; 128 and the signal's number where one killed it.
    /// - Throws: `Fault` where the proxy does not start or the command is not found.
    public func callAsFunction(_ command: [String]) throws(Fault) -> Int32 {
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
            if let control {
                // commands behind it speak to this proxy, and so may whoever reads this
                inherited[ControlPath.variable] = control
                Console.error("what asks for a person is answered with usher transactions --socket \(control)")
            }
            let child = try ChildProcess(
                command, environment: inherited, signals: signals.before, files: files,
                turnsOutputToError: turnsOutputToError)
            let status = child.wait(signals)
            try proxy.end()
            return status
        } catch {
            try? proxy.end()
            throw error
        }
    }

    // MARK: the proxy

    private enum Start {
        case pending
        case ready(SocketAddress)
        case failed(String)
    }

    private struct Proxy {
        let address: ProxyAddress
        let thread: SystemThread
        let ending: Mailbox<Void>
        let failure: Locked<String?>

        func end() throws(Fault) {
            ending.post(())
            // a loop that is stuck does not keep the command's status from whoever waits for it
            guard thread.join(withinMilliseconds: CommandRun.drainLimit + CommandRun.grace) else {
                return Console.error("the proxy is stuck; the process ends without it")
            }
            if let words = failure.withLock({ $0 }) { throw Fault(description: words, status: 1) }
        }
    }

    /// Where somebody can answer what the command's proxy asks; nil where it asks nobody.
    private var control: String? {
        guard snapshot.settings.authorization.contains(where: \.asksPerson) else { return nil }
        return ControlPath.ofCommand(environment.variables)
    }

    private func start() throws(Fault) -> Proxy {
        let state = Locked(Start.pending)
        let failure = Locked<String?>(nil)
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
            // a daemon's own socket is left to the daemon
            options.control = control.map { .at($0) } ?? .none
            options.ready = { addresses in
                state.signal { $0 = addresses.first.map { .ready($0.address) } ?? .failed("there is no listener") }
            }
            thread = try SystemThread(name: "proxy") { [snapshot, options] in
                do throws(Supervisor.StartFault) {
                    try Supervisor(snapshot, options, reload: { .success(snapshot) }).run()
                } catch {
                    failure.withLock { $0 = error.description }
                    state.signal { if case .pending = $0 { $0 = .failed(error.description) } }
                }
            }
        } catch {
            throw Fault(description: "no proxy could be started: \(error.description)", status: 1)
        }
        let started = state.wait { state -> Result<SocketAddress, Fault>? in
            switch state {
            case .pending: nil
            case .ready(let address): .success(address)
            case .failed(let words): .failure(Fault(description: words, status: 1))
            }
        }
        switch started {
        case .success(let address):
            return Proxy(
                address: ProxyAddress(host: address.host, port: address.port), thread: thread, ending: ending,
                failure: failure)
        case .failure(let fault):
            thread.join()
            throw fault
        }
    }
}
