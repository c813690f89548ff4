import Configuration
import Control

/// The supervisor's log for the admin API.
final class ServedLog: LogDial {
    private unowned let supervisor: Supervisor
    /// The level that was set by a request, and the generation of the configuration that it applies to.
    private var said: (level: LogSettings.Level, generation: Int)?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    var levels: [String] { LogSettings.Level.allCases.map(\.rawValue) }
    var configured: String { supervisor.configuration.snapshot.log.level.rawValue }

    var level: String {
        guard let said, said.generation == supervisor.configuration.snapshot.generation else { return configured }
        return said.level.rawValue
    }

    func turn(to level: String) throws(ControlProblem) {
        guard let level = LogSettings.Level(rawValue: level) else { return }
        var settings = supervisor.configuration.snapshot.log
        settings.level = level
        guard supervisor.instruments.tell(settings) else {
            throw ControlProblem(409, "no log is written because of log.access")
        }
        said = (level, supervisor.configuration.snapshot.generation)
    }
}
