import Configuration
import Control
import Formats
import ProxyCore
import ProxyDriver

/// The daemon for the admin API: drain, upgrade and reload.
final class SupervisorLife: DaemonLife, ReloadDesk {
    private unowned let daemon: Supervisor

    init(_ daemon: Supervisor) { self.daemon = daemon }

    var status: JSONValue { daemon.view }

    func drain() { daemon.drain() }

    func upgrade() throws(ControlProblem) {
        guard let upgrading = daemon.upgrading, !daemon.isStopping else {
            throw ControlProblem(409, "the daemon is ending")
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
    var view: JSONValue {
        status.json(
            DaemonStatus.View(
                state: phase.rawValue, generation: generation, configuration: configuration,
                file: configuration.snapshot.file, lastFailure: reloader?.lastFailure,
                listening: listening.map(\.description),
                control: doors.path, mostConnections: configuration.snapshot.settings.limits.connections,
                environments: environments,
                journal: keepsFlows ? stores.journal?.figures : nil,
                workers: crew.loads, scripts: stores.scripts.report))
    }

    /// Wraps a recorder so that loops' warnings are kept for the status, too.
    func noting(_ make: @escaping @Sendable () -> any Recorder) -> @Sendable () -> any Recorder {
        { [faults = status.faults, tally = options.tally] in
            let recorder = WarningRecorder(make(), faults)
            return tally.map { TallyRecorder(recorder, $0) } ?? recorder
        }
    }
}
