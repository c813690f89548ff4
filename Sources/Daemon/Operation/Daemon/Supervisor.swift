public import Configuration
public import Control
import EventLoop
import Glibc
import Metrics
import ProxyCore
import ProxyDriver

/// The daemon: opens the listeners, starts a loop for each worker, handles signals, and shuts down gracefully.
public final class Supervisor {
    let options: ServeOptions
    let loop: Loop
    let instruments: Instruments
    let status = DaemonStatus()
    let stores: DaemonStores
    let crew: WorkerCrew
    let doors = ControlDoors()
    var configuration: RunningConfiguration
    private(set) var listening: [ListeningAddress] = []
    private(set) var reloader: Reloader?
    private(set) var upgrading: Upgrading?
    private var shutdown = Shutdown()
    private var words = ServiceWords()
    private var sources: [EventSource] = []
    /// Identifies this process in `Via`.
    private let pseudonym = "usher-\(String(UInt32.random(in: 0 ... .max), radix: 16))"

    /// The reason why a daemon did not start, in one line for a person.
    public struct StartFault: Error, Sendable {
        public let description: String
    }

    /// - Parameters:
    ///   - trust: the system's authorities, read in advance.
    ///   - overlays: a loader of overlays on a configuration, with the values of their variables.
    ///   - reload: loads the configuration again.
    public convenience init(
        _ snapshot: Snapshot, trust: TrustAhead? = nil,
        overlays: @escaping @Sendable (Snapshot, [String: String]) -> OverlayLoader,
        reload: @escaping @Sendable () -> Result<Snapshot, ConfigurationFaults>
    ) throws(StartFault) {
        var options = ServeOptions()
        options.trust = trust
        options.overlays = overlays
        options.reload = reload
        try self.init(snapshot, options)
    }

    init(_ snapshot: Snapshot, _ options: ServeOptions) throws(StartFault) {
        configuration = RunningConfiguration(snapshot)
        self.options = options
        instruments = try Instruments(snapshot, options)
        do throws(SystemError) {
            loop = try Loop()
            stores = try DaemonStores(ScriptHost(instruments, status.faults))
        } catch {
            throw StartFault(description: error.description)
        }
        crew = WorkerCrew(loop)
    }

    /// Serves until a signal. SIGTERM and SIGINT let active exchanges finish; a second signal does not.
    public func run() throws(StartFault) {
        signal(SIGPIPE, SIG_IGN)
        // the admin API closes last, so that people can answer while a worker runs
        defer {
            doors.end()
            stores.endNotifying()
            stores.scripts.end()
            loop.releaseClosed()
        }
        ProcessSecrecy.begin()
        let snapshot = configuration.snapshot
        let handover = options.isDaemon ? Handover.taken : nil
        let count = snapshot.workers ?? min(Int(CommandBuffer.loops), max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        do {
            // first, because a SIGHUP during the start must not end the daemon
            try hear()
            if options.isDaemon { EarlySignals.release() }
            raiseDescriptorLimit()
            let listeners = try OpenListeners(
                snapshot, forWorkers: count, handover, isDaemon: options.isDaemon)
            listening = listeners.addresses
            let settings = try builder.settings(
                snapshot, trust: { [options] in options.trust?.take() }, previous: nil)
            for remark in settings.remarks where options.isDaemon { Console.error(remark) }
            let faults = stores.scripts.start(snapshot.scripts)
            guard faults.isEmpty else {
                throw StartFault(description: faults.map(\.description).joined(separator: "\n"))
            }
            if let handover {
                guard handover.takeOver() else {
                    throw StartFault(description: "the process that it replaces did not release its sockets")
                }
                try doors.openPort(of: self, inPlaceOfAnother: true)
                try stores.begin(snapshot, isAsked: true, afterAnother: true)
            } else {
                try doors.openSocket(of: self)
                try doors.openPort(of: self)
                try stores.begin(snapshot, isAsked: doors.hasSocket, afterAnother: false)
            }
            try start(listeners, settings)
            if let handover {
                try doors.openSocket(of: self, inPlaceOfAnother: true)
                upgrading = try Upgrading(self, listeners, predecessor: handover.predecessor)
                handover.serving()
            } else if options.isDaemon {
                upgrading = try Upgrading(self, listeners, predecessor: nil)
            }
            // only now, because a failure of one address means that none was served
            if options.isDaemon {
                for address in listening { Console.error("listening on \(address)\(listeners.origin)") }
            }
            if let address = doors.portAddress { Console.error("serving the admin API on \(address)") }
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
        crew.join()
        stores.close()
        instruments.close()
        shutdown.cancel()
        if let failure = crew.failure { throw StartFault(description: failure.description) }
    }

    public var phase: ServicePhase { isStopping ? .draining : crew.count == 0 ? .starting : .serving }

    // MARK: start

    private func start(_ listeners: OpenListeners, _ settings: SettingsBuilder.Settings) throws {
        configuration.begin(with: settings)
        var first = settings.workers
        first.journal = stores.journal
        try crew.start(
            first, stores.tables, listeners.perWorker,
            at: listening.map(\.address) + [doors.portAddress].compactMap { $0 }, instruments,
            recorder: { noting(options.recorder ?? instruments.recorder($0)) },
            ended: { [unowned self] in ended($0) })
        stores.beginTestSessions(
            .init(snapshot: configuration.snapshot, engine: first.engine), crew.threads,
            at: listening.first { !$0.isSecure } ?? listening.first, options.overlays)
        let minute = RateHistory.interval * 1000
        sources.append(try Timer(loop: loop, everyMilliseconds: minute) { [unowned self] in instruments.endMinute() })
        guard options.isDaemon else { return }
        if let reload = options.reload { reloader = try Reloader(self, reload) }
        try crew.startWatch(status.faults)
    }

    var builder: SettingsBuilder {
        SettingsBuilder(
            isListenerSecure: listening.contains(where: \.isSecure), address: listening.first, pseudonym: pseudonym,
            drainLimit: options.drainLimit, exportsTraces: instruments.traces != nil)
    }

    /// Allows two descriptors per client connection and a reserve.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
        let needed = configuration.snapshot.settings.limits.connections * 2 + 64
        if options.isDaemon, limit.rlim_cur < rlim_t(needed) {
            Console.error(
                "the system allows \(limit.rlim_cur) open files; limits.connections needs about \(needed)")
        }
    }

    /// The new process speaks for the service from now on.
    func tellFollower(_ pid: Int) { if options.isDaemon { words.tell("MAINPID=\(pid)\nREADY=1") } }

    func tell(_ state: String) {
        // after an upgrade, the new process speaks for the service
        if options.isDaemon, upgrading?.isOver != true { words.tell(state) }
    }

    /// - Parameter remark: an additional status for `systemctl status`.
    func tellReady(_ remark: String? = nil) {
        let count = crew.count
        let status = "serving with \(count) \(count == 1 ? "worker" : "workers") by generation \(generation)"
        tell("READY=1\nSTATUS=\(status)\(remark.map { "; \($0)" } ?? "")")
    }

    // MARK: signals

    private func hear() throws {
        if let ending = options.ending {
            sources.append(
                try MailboxPort(loop: loop, ending) { [unowned self] in shutdown.isDrained ? loop.stop() : end() })
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
        // shows that this loop turns, and samples the rate of exchanges
        loop.pulse.turn(at: loop.now)
        sources.append(
            try Timer(loop: loop, everyMilliseconds: 250) { [unowned self] in
                loop.pulse.turn(at: loop.refreshNow())
                status.note(crew.total, now: loop.now)
                words.tellRest()
                stores.testSessions?.sweep(time(nil))
                if let fault = instruments.log.sink?.complaint(loop.now) {
                    status.faults.add(fault)
                    Console.error(fault)
                }
            })
    }

    /// Ends the daemon. A second request does not wait for active exchanges.
    private func end() {
        guard shutdown.stage == .isAskedFor else { return enter(.isAskedFor) }
        crew.stop()
        if options.isDaemon { shutdown.force(after: 0, "a second signal", instruments.log.sink) }
    }

    var isStopping: Bool { shutdown.isUnderWay }

    /// Stops accepting clients and ends after the active exchanges, also if a shutdown is requested elsewhere.
    func drain() { if !isStopping { enter(.drains) } }

    private func enter(_ stage: Shutdown.Stage) {
        guard shutdown.begin(stage) else { return }
        let patience = upgrading?.patience ?? 0
        upgrading?.close()
        if options.isDaemon {
            shutdown.force(
                after: configuration.snapshot.settings.timeouts.drain, "timeouts.drain", instruments.log.sink)
        }
        tell("STOPPING=1")
        crew.drain(sparingIdleFor: patience)
    }

    /// Handles the end of a worker.
    private func ended(_ error: SystemError?) {
        if error != nil { drain() }
        guard crew.isOver else { return }
        if let drained = options.drained {
            shutdown.drained()
            drained()
        } else {
            loop.stop()
        }
    }
}
