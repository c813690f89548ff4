import Configuration
import Control
import EventLoop
import Formats
import Glibc
import ProxyCore

/// The daemon's side of an upgrade, and the result of the last one.
final class Upgrading {
    private unowned let daemon: Supervisor
    private let copies: ListenerCopies
    private let servesAll: Bool
    /// The process id of the process that this one replaced.
    private let predecessor: Int?
    private var upgrade: Upgrade?
    /// True if a signal requested a reload during the upgrade.
    private var owesReload = false

    /// In milliseconds. Idle connections stay open for this long, so that requests on their way get a response. New connections
    /// go to the new process.
    private static let patience = 2_000

    init(_ daemon: Supervisor, _ listeners: OpenListeners, predecessor: Int?) throws(SystemError) {
        self.daemon = daemon
        copies = ListenerCopies(listeners.perWorker.flatMap { $0 })
        servesAll = listeners.areGiven
        self.predecessor = predecessor
        upgrade = try Upgrade(daemon.loop) { [unowned self] in heard($0) }
    }

    var isUnderWay: Bool { if case .underWay? = upgrade?.state { true } else { false } }

    /// Postpones a reload during an upgrade, until it is known which process will serve.
    /// - Returns: false if no upgrade is under way.
    func putOff() -> Bool {
        if isUnderWay { owesReload = true }
        return isUnderWay
    }

    /// True after another process has taken over.
    var isOver: Bool { if case .done? = upgrade?.state { true } else { false } }

    func begin() throws(ControlProblem) {
        guard let upgrade else { return }
        if isUnderWay { throw ControlProblem(409, "an upgrade is under way") }
        guard getpid() != 1 else {
            throw ControlProblem(
                409, "this is the first process of a container, which ends with it: start a new container instead")
        }
        try upgrade.begin(copies.sockets, servesAll: servesAll) { [state = daemon.stores.state] in state.flush() }
        Console.error("starting a process to replace this one")
    }

    private func heard(_ news: Upgrade.News) {
        switch news {
        case .isReady:
            daemon.stores.stepAside()
            daemon.doors.stepAside()
            upgrade?.letGo()
        case .failed(let reason):
            let rest = daemon.isStopping ? "ends" : "continues"
            let words = "the upgrade failed; process \(getpid()) \(rest): \(reason)"
            Console.error(words)
            daemon.status.faults.add(words)
            daemon.doors.stepBack()
            daemon.stores.stepBack(daemon.configuration.snapshot)
            if owesReload { _ = try? daemon.reloader?.begin(by: "SIGHUP") }
            owesReload = false
        case .serves:
            guard case .done(let pid)? = upgrade?.state else { return }
            let place = daemon.doors.path.map { "; until then its control socket is \($0)" } ?? ""
            Console.error("process \(pid) serves; this one finishes its exchanges and ends\(place)")
            daemon.tellFollower(pid)
            // it has loaded the configuration before the request
            if owesReload { kill(pid_t(pid), SIGHUP) }
            daemon.doors.retirePort()
            daemon.drain()
        }
    }

    /// In milliseconds. How long a drain keeps idle connections open. It is 0 if the listening sockets end with this process: new
    /// clients are refused anyway.
    var patience: Int {
        isOver || servesAll ? min(Self.patience, daemon.configuration.snapshot.settings.timeouts.drain / 2) : 0
    }

    /// Stops accepting, and ends a process that is about to take over.
    func close() {
        copies.close()
        if case .underWay(let pid)? = upgrade?.state { kill(pid_t(pid), SIGTERM) }
    }

    var json: JSONValue {
        var members: JSONValue = ["pid": .integer(Int(getpid()))]
        switch upgrade?.state {
        case .idle?, nil:
            members["state"] = .string(predecessor == nil ? "none" : "done")
            members["from"] = predecessor.map { .integer($0) }
        case .underWay(let pid)?:
            members["state"] = "running"
            members["to"] = .integer(pid)
        case .done(let pid)?:
            members["state"] = "left"
            members["to"] = .integer(pid)
        case .failed(let reason)?:
            members["state"] = "failed"
            members["reason"] = .string(reason)
        }
        return members
    }
}
