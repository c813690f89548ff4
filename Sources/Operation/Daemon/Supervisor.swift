import Authorization
public import Configuration
public import Control
import EventLoop
import Glibc
import Interception
import Journal
import Names
import ProxyCore
import ProxyDriver

/// The daemon: opens the listeners, starts a loop for each worker, waits for signals, and ends in good order.
public final class Supervisor {
    private(set) var snapshot: Snapshot
    /// What it began with; some of that stays until the next start.
    let started: Snapshot
    private let load: Reloader.Load
    private(set) var reloader: Reloader?
    var running = RunningConfiguration()
    let status = DaemonStatus()
    let loop: Loop
    let options: ServeOptions
    let instruments: Instruments
    private(set) var workers: [WorkerThread] = []
    private(set) var listening: [ListeningAddress] = []
    var upgrading: Upgrading?
    private var watch: LoopWatch?
    private let endWatch = ShutdownWatchdog()
    let state: StateKeeper
    let tables: SharedTables
    private let notifier = Notifier()
    private(set) var control: ControlServer?
    /// The same over TCP.
    private(set) var adminPort: ControlServer?
    let tokenKeeper: TokenKeeper
    private(set) var journal: JournalThread?
    private(set) var material: TLSMaterial?
    /// What the operator was told of the configuration that is in force.
    private(set) var remarks: [String] = []
    /// Clients speak TLS to one of the sockets at least.
    private var isListenerSecure = false
    private var sources: [EventSource] = []
    private var alive = 0
    /// All workers have ended, and questions are still answered.
    private var isDrained = false
    /// Whether it ends, and whether somebody asked by a signal for that.
    private enum Ending { case none, drains, isAskedFor }
    private var ending = Ending.none
    private var words = ServiceWords()
    private var failure: SystemError?
    /// What loops have to end, once a drain is over, in milliseconds.
    private static let grace = 5_000
    /// Tells this process from others of its kind in `Via`.
    private let pseudonym = "usher-\(String(UInt32.random(in: 0 ... .max), radix: 16))"

    /// Why a daemon did not start, in one line for a person.
    public struct StartFault: Error, Sendable {
        public let description: String
    }

    /// - Parameters:
    ///   - trust: what is read meanwhile.
    ///   - reload: reads the configuration anew.
    public convenience init(
        _ snapshot: Snapshot, trust: TrustAhead? = nil,
        reload: @escaping @Sendable () -> Result<Snapshot, ConfigurationFaults>
    ) throws(StartFault) {
        var options = ServeOptions()
        options.trust = trust
        try self.init(snapshot, options, reload: reload)
    }

    init(
        _ snapshot: Snapshot, _ options: ServeOptions,
        reload: @escaping @Sendable () -> Result<Snapshot, ConfigurationFaults>
    ) throws(StartFault) {
        self.snapshot = snapshot
        started = snapshot
        self.options = options
        load = reload
        instruments = try Instruments(snapshot, options)
        do throws(SystemError) {
            loop = try Loop()
            let directory = StateDirectory(ProcessEnvironment.all)
            state = StateKeeper(directory)
            tables = SharedTables(
                transactions: TransactionTable { [notifier] in notifier.tell($0, $1, $2) }, state: state)
            tokenKeeper = TokenKeeper(state, directory, tables.tokens)
        } catch {
            throw StartFault(description: error.description)
        }
    }

    /// Serves until a signal ends it: SIGTERM and SIGINT let exchanges under way finish, a second one does not.
    public func run() throws(StartFault) {
        signal(SIGPIPE, SIG_IGN)
        // who waits for a person can be answered as long as a worker is there
        defer {
            control?.end()
            control = nil
            adminPort?.end()
            adminPort = nil
            notifier.end()
            loop.releaseClosed()
        }
        ProcessSecrecy.begin()
        let handover = options.isDaemon ? Handover.taken : nil
        let count = snapshot.workers ?? min(Int(Outbox.loops), max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        do {
            // first: a SIGHUP that comes while the daemon starts must not end it
            try hear()
            if options.isDaemon { EarlySignals.release() }
            try raiseDescriptorLimit()
            let listeners = try listen(count, handover)
            listening = listeners.listening
            isListenerSecure = listening.contains(where: \.isSecure)
            let settings = try builder.settings(
                snapshot, trust: { [options] in options.trust?.take() }, previous: nil)
            for remark in settings.remarks where options.isDaemon { Console.error(remark) }
            if let handover {
                guard handover.takeOver() else {
                    throw StartFault(description: "the process that it was to follow did not let go")
                }
                adminPort = try openAdminPort(snapshot, inPlaceOfAnother: true)
                state.reread()
                try keepJournal(snapshot, isAsked: true)
            } else {
                control = try openControl(snapshot)
                adminPort = try openAdminPort(snapshot)
                try keepJournal(snapshot, isAsked: control != nil)
            }
            tokenKeeper.adopt(snapshot.settings.tokens, snapshot.stateKey)
            try start(count, listeners, settings)
            if let handover {
                control = try openControl(snapshot, inPlaceOfAnother: true)
                upgrading = try Upgrading(self, listeners, predecessor: handover.predecessor)
                handover.serving()
            } else if options.isDaemon {
                upgrading = try Upgrading(self, listeners, predecessor: nil)
            }
            // only now: where one address of several cannot be had, nothing was ever served
            if options.isDaemon {
                for address in listening { Console.error("listening on \(address)\(listeners.origin)") }
            }
            if let address = adminPort?.localAddress { Console.error("answering about itself on \(address)") }
            options.ready(listening)
        } catch let fault as StartFault {
            throw fault
        } catch let fault as SecurityBuilder.Fault {
            throw StartFault(description: fault.description)
        } catch {
            throw StartFault(description: "\(error)")
        }
        tellReady()
        loop.run()
        watch?.end()
        for worker in workers { worker.join() }
        state.close()
        journal?.close()
        instruments.close()
        endWatch.cancel()
        if let failure { throw StartFault(description: failure.description) }
    }

    public var phase: ServicePhase { isStopping ? .draining : workers.isEmpty ? .starting : .serving }

    // MARK: start

    struct Listeners {
        /// For each worker, its descriptors.
        var perWorker: [[WorkerListener]]
        var listening: [ListeningAddress] = []
        /// Where they come from, for a person.
        var origin = ""
        /// They are served whatever the configuration says.
        var areGiven = false
    }

    private func listen(_ count: Int, _ handover: Handover?) throws -> Listeners {
        var listeners = Listeners(perWorker: Array(repeating: [], count: count))
        if let handover, handover.servesAll {
            try adopt(handover.sockets, count, &listeners)
            listeners.areGiven = true
            return listeners
        }
        var left = handover?.sockets ?? []
        let handed = options.isDaemon && handover == nil ? ServiceManager.takeSockets() : []
        if !handed.isEmpty {
            try adopt(handed, count, &listeners)
            listeners.origin = ", handed over by the service manager"
            listeners.areGiven = true
            return listeners
        }
        for wanted in snapshot.listeners {
            guard let address = SocketAddress(numeric: wanted.host, port: wanted.port) else {
                throw StartFault(description: "cannot listen on \(wanted): not a numeric address")
            }
            let inherited = Self.take(&left, for: address, isSecure: wanted.isSecure)
            if !inherited.isEmpty {
                try adopt(inherited, count, &listeners)
                continue
            }
            let bound = try open(address, wanted.isSecure, count, into: &listeners)
            listeners.listening.append(ListeningAddress(address: bound, isSecure: wanted.isSecure))
        }
        for socket in left { close(socket.descriptor) }
        return listeners
    }

    private func open(
        _ address: SocketAddress, _ isSecure: Bool, _ count: Int, into listeners: inout Listeners
    ) throws -> SocketAddress {
        do throws(SystemError) {
            // shared sockets would quietly join those of another process: an unshared one asks first
            let probe = try ListeningSocket(address)
            let bound = probe.address
            guard count > 1 else {
                listeners.perWorker[0].append(
                    WorkerListener(descriptor: probe.take().release(), isSecure: isSecure))
                return bound
            }
            _ = consume probe
            for worker in 0..<count {
                let socket = try ListeningSocket(
                    SocketAddress(address: address.address, port: bound.port), shared: true)
                listeners.perWorker[worker].append(
                    WorkerListener(descriptor: socket.take().release(), isSecure: isSecure))
            }
            return bound
        } catch {
            let remedy =
                error.code == EADDRINUSE
                ? "another program has that port: stop it, or choose another with --listen or listen:" : "see listen:"
            throw StartFault(description: "cannot listen on \(address): \(error.reason) (\(remedy))")
        }
    }

    private func start(_ count: Int, _ listeners: Listeners, _ settings: SettingsBuilder.Settings) throws {
        (material, remarks) = (settings.workers.tls, settings.remarks)
        var first = settings.workers
        first.journal = journal
        let ends = try Mailbox<SystemError?>()
        sources.append(try MailboxPort(loop: loop, ends) { [unowned self] in ended($0) })
        alive = count
        for number in 0..<count {
            let metrics = instruments.addLoop()
            workers.append(
                try WorkerThread(
                    number: number, settings: first, tables: tables, metrics: metrics,
                    listeners: listeners.perWorker[number],
                    addresses: listening.map(\.address) + [adminPort?.localAddress].compactMap { $0 },
                    recorder: noting(options.recorder ?? instruments.recorder(metrics)),
                    ended: { ends.post($0) }))
        }
        guard options.isDaemon else { return }
        reloader = try Reloader(self, load)
        watch = try startWatch()
    }

    /// Whom nobody can ask keeps nothing.
    func keepJournal(_ snapshot: Snapshot, isAsked: Bool) throws(SystemError) {
        let (settings, key) = (snapshot.journal, snapshot.stateKey)
        if let journal { return try journal.adopt(settings ?? JournalStore.Settings(memory: 0, bodies: 0), key: key) }
        guard let settings, isAsked else { return }
        journal = try JournalThread(settings, StateDirectory(ProcessEnvironment.all), key: key)
    }

    var builder: SettingsBuilder {
        SettingsBuilder(
            isListenerSecure: isListenerSecure, address: listening.first, pseudonym: pseudonym,
            drainLimit: options.drainLimit, exportsTraces: instruments.traces != nil)
    }

    /// Has every loop act by it from here on.
    func take(_ new: Snapshot, _ settings: SettingsBuilder.Settings) {
        snapshot = new
        instruments.reloaded(new)
        (material, remarks) = (settings.workers.tls, settings.remarks)
        state.reread()
        tokenKeeper.adopt(new.settings.tokens, new.stateKey)
        var next = settings.workers
        next.journal = journal
        for worker in workers { worker.adopt(next) }
        tables.sessions.keep(loginsOf: new.settings.authorization)
    }

    /// Two descriptors a client connection, and some to spare.
    private func raiseDescriptorLimit() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
        let needed = snapshot.settings.limits.connections * 2 + 64
        if options.isDaemon, limit.rlim_cur < rlim_t(needed) {
            Console.error(
                "the system allows \(limit.rlim_cur) open files; limits.connections needs about \(needed)")
        }
    }

    /// The other process speaks for the service from here on.
    func tellFollower(_ pid: Int) { if options.isDaemon { words.tell("MAINPID=\(pid)\nREADY=1") } }

    func tell(_ state: String) {
        // the one that took this one's place speaks for the service
        if options.isDaemon, upgrading?.isOver != true { words.tell(state) }
    }

    /// - Parameter remark: what `systemctl status` is to show beside.
    func tellReady(_ remark: String? = nil) {
        let count = workers.count
        let status = "serving with \(count) \(count == 1 ? "worker" : "workers") by generation \(snapshot.generation)"
        tell("READY=1\nSTATUS=\(status)\(remark.map { "; \($0)" } ?? "")")
    }

    // MARK: signals

    private func hear() throws {
        if let ending = options.ending {
            sources.append(
                try MailboxPort(loop: loop, ending) { [unowned self] in isDrained ? loop.stop() : end() })
        }
        guard options.isDaemon else { return }
        for number in [SIGTERM, SIGINT] {
            sources.append(try SignalSource(loop: loop, signal: number) { [unowned self] in end() })
        }
        sources.append(
            try SignalSource(loop: loop, signal: SIGHUP) { [unowned self] in
                if upgrading?.putOff() != true { _ = try? reloader?.begin(by: "SIGHUP") }
            })
        sources.append(
            try SignalSource(loop: loop, signal: SIGUSR1) { [unowned self] in instruments.reopenLog() })
        // by which is seen that this loop turns, and how many exchanges come to a second
        loop.pulse.turn(at: loop.now)
        sources.append(
            try Timer(loop: loop, everyMilliseconds: 250) { [unowned self] in
                loop.pulse.turn(at: loop.refreshNow())
                status.note(total, now: loop.now)
                words.tellRest()
                if let fault = instruments.log.sink?.complaint(loop.now) {
                    status.faults.add(fault)
                    Console.error(fault)
                }
            })
    }

    /// Somebody wants it to end; who says so twice does not wait for what is under way.
    private func end() {
        guard ending == .isAskedFor else { return begin(.isAskedFor) }
        for worker in workers { worker.stop() }
        if options.isDaemon { endForced(after: 0, "a second signal") }
    }

    var isStopping: Bool { ending != .none }

    /// Lets no more clients in and ends once what is under way is over, whoever else wants that, too.
    func drain() { if !isStopping { begin(.drains) } }

    private func begin(_ new: Ending) {
        let isFirst = !isStopping
        ending = new
        guard isFirst else { return }
        let patience = upgrading?.patience ?? 0
        upgrading?.close()
        if options.isDaemon { endForced(after: snapshot.settings.timeouts.drain, "timeouts.drain") }
        tell("STOPPING=1")
        for worker in workers { worker.drain(sparingIdleFor: patience) }
    }

    /// A loop that is stuck in a call hears no letter: a thread of its own ends the process.
    private func endForced(after limit: Int, _ reason: String) {
        endWatch.expectEnd(within: limit + Self.grace) { [log = instruments.log.sink] in
            Console.error(
                "a worker is stuck: it has not ended \(Self.grace / 1000) s after \(reason); "
                    + "the process ends without it"
            )
            log?.close()
        }
    }

    private func ended(_ error: SystemError?) {
        alive -= 1
        if let error {
            failure = error
            drain()
        }
        guard alive == 0 else { return }
        if let drained = options.drained {
            isDrained = true
            drained()
        } else {
            loop.stop()
        }
    }
}
