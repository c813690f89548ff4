import Configuration
import Control
import EventLoop
import Formats
import Glibc
import ProxyCore
import ProxyDriver

/// The daemon, as the control socket knows it.
final class SupervisorLife: DaemonLife, ReloadDesk {
    private unowned let daemon: Supervisor

    init(_ daemon: Supervisor) { self.daemon = daemon }

    var status: JSONValue { daemon.view }

    func drain() { daemon.drain() }

    func upgrade() throws(ControlProblem) {
        guard let upgrading = daemon.upgrading, !daemon.isStopping else {
            throw ControlProblem(409, "the daemon is about to end")
        }
        try upgrading.begin()
    }

    var upgradeStatus: JSONValue { daemon.upgrading?.json ?? .object([]) }

    func begin(by whom: String) throws(ControlProblem) -> Int {
        guard let reloader = daemon.reloader else { throw ControlProblem(409, "the daemon is not ready yet") }
        return try reloader.begin(by: whom)
    }

    func report(_ number: Int?) -> ReloadReport? { daemon.reloader?.report(number) }
}

extension Supervisor {
    /// What all workers have at hand.
    var total: LoadGauge.Reading { workers.reduce(LoadGauge.Reading()) { $0 + $1.gauge.reading } }

    var view: JSONValue {
        status.json(
            DaemonStatus.View(
                state: phase.rawValue, generation: generation, configuration: running,
                file: snapshot.file, lastFailure: reloader?.lastFailure, listening: listening.map(\.description),
                control: control?.path, mostConnections: snapshot.settings.limits.connections,
                journal: keepsFlows ? journal?.figures : nil,
                workers: workers.map { ($0.gauge.reading, $0.pulse) }))
    }

    /// Also keeps what the loops warn of.
    func noting(_ make: @escaping @Sendable () -> any Recorder) -> @Sendable () -> any Recorder {
        { [faults = status.faults, tally = options.tally] in
            let recorder = WarningRecorder(make(), faults)
            return tally.map { TallyRecorder(recorder, $0) } ?? recorder
        }
    }

    func startWatch() throws(SystemError) -> LoopWatch {
        // what came before took its time, and is no stall
        loop.pulse.turn(at: loop.refreshNow())
        let loops =
            workers.enumerated().map { LoopWatch.Watched(name: "worker \($0.offset)", pulse: $0.element.pulse) }
            + [LoopWatch.Watched(name: "the supervisor", pulse: loop.pulse)]
        return try LoopWatch(
            loops, watchdog: ServiceManager.watchdogInterval, notify: { ServiceManager.notify("WATCHDOG=1") },
            say: { [faults = status.faults] in
                faults.add($0)
                Console.error($0)
            })
    }

    /// Sockets of a process that ran before, for one address of the configuration: those with its port, or, where that may be
    /// any, those of the next one.
    static func take(
        _ left: inout [WorkerListener], for wanted: SocketAddress, isSecure: Bool
    ) -> [WorkerListener] {
        func address(_ socket: WorkerListener) -> SocketAddress? {
            SocketAddress(ofSocket: socket.descriptor)
        }
        func fits(_ socket: WorkerListener, _ port: UInt16) -> Bool {
            guard let found = address(socket), socket.isSecure == isSecure else { return false }
            return found.address == wanted.address && found.port == port
        }
        var port = wanted.port
        if port == 0 { port = left.first { fits($0, address($0)?.port ?? 0) }.flatMap(address)?.port ?? 0 }
        guard port != 0 else { return [] }
        let taken = left.filter { fits($0, port) }
        left.removeAll { fits($0, port) }
        return taken
    }

    /// Deals sockets out that listen already. Every one of them has somebody waiting at it: each is served, and each worker
    /// serves one of each address.
    func adopt(_ sockets: [WorkerListener], _ count: Int, _ listeners: inout Listeners) throws {
        var addresses: [(of: ListeningAddress, sockets: [Int32])] = []
        for socket in sockets {
            let adopted = try ListeningSocket(adopting: socket.descriptor)
            let address = ListeningAddress(address: adopted.address, isSecure: socket.isSecure)
            let number = adopted.take().release()
            if let index = addresses.firstIndex(where: {
                $0.of.address == address.address && $0.of.isSecure == address.isSecure
            }) {
                addresses[index].sockets.append(number)
            } else {
                addresses.append((address, [number]))
            }
        }
        for (address, numbers) in addresses {
            listeners.listening.append(address)
            for turn in 0..<max(count, numbers.count) {
                let number =
                    turn < numbers.count ? numbers[turn] : fcntl(numbers[turn % numbers.count], F_DUPFD_CLOEXEC, 3)
                guard number >= 0 else { throw SystemError("fcntl") }
                listeners.perWorker[turn % count].append(
                    WorkerListener(descriptor: number, isSecure: address.isSecure))
            }
        }
    }
}
