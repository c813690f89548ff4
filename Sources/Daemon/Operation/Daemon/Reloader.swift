import Configuration
import Control
import EventLoop
import Glibc
import ProxyDriver

/// Loads the configuration on another thread, one load at a time, so that no loop waits for the disk.
final class Reloader: ReloadDesk {
    typealias Load = @Sendable () -> Result<Snapshot, ConfigurationFaults>

    /// The result of a load.
    enum Reading: Sendable {
        case settings(SettingsBuilder.Settings)
        case faults([ConfigurationRemark])
    }

    private unowned let daemon: Supervisor
    private let load: Load
    private let readings: Mailbox<Reading>
    private var port: EventSource?
    private let work = WorkQueue("reload")
    private var reports: [ReloadReport] = []
    /// The initiator of the load that follows the present one.
    private var next: (number: Int, by: String)?
    private var count = 0

    /// The number of reports that are kept.
    private static let most = 16

    init(_ daemon: Supervisor, _ load: @escaping Load) throws(SystemError) {
        self.daemon = daemon
        self.load = load
        readings = try Mailbox()
        port = try MailboxPort(loop: daemon.loop, readings) { [unowned self] in came($0) }
    }

    func report(_ number: Int?) -> ReloadReport? {
        if let next, number == next.number {
            return ReloadReport(
                number: next.number, outcome: .isUnderWay, generation: daemon.generation, at: time(nil), by: next.by)
        }
        return number == nil ? reports.last : reports.first { $0.number == number }
    }

    var lastFailure: ReloadReport? { reports.last { if case .failed = $0.outcome { true } else { false } } }

    @discardableResult
    func begin(by whom: String) throws(ControlProblem) -> Int {
        guard !daemon.isStopping else { throw ControlProblem(409, "the daemon is ending") }
        guard daemon.upgrading?.isUnderWay != true else {
            throw ControlProblem(409, "an upgrade is under way; reload after it")
        }
        if let next { return next.number }
        count += 1
        if isUnderWay {
            next = (count, whom)
        } else {
            start(count, whom)
        }
        return count
    }

    private var isUnderWay: Bool {
        if case .isUnderWay? = reports.last?.outcome { true } else { false }
    }

    private func start(_ number: Int, _ whom: String) {
        reports.append(
            ReloadReport(
                number: number, outcome: .isUnderWay, generation: daemon.generation, at: time(nil), by: whom))
        if reports.count > Self.most { reports.removeFirst() }
        daemon.reloadBegins()
        let (load, readings, builder, previous) = (load, readings, daemon.builder, daemon.configuration.material)
        let scripts = daemon.stores.scripts
        do throws(WorkQueue.Refusal) {
            try work.run { readings.post(Self.read(load, builder, previous, scripts)) }
        } catch {
            readings.post(.faults([ConfigurationRemark(error.description)]))
        }
    }

    private static func read(
        _ load: Load, _ builder: SettingsBuilder, _ previous: TLSMaterial?, _ scripts: ScriptHost
    ) -> Reading {
        switch load() {
        case .failure(let faults): return .faults(faults.diagnostics.map(\.remark))
        case .success(let snapshot):
            do throws(SecurityBuilder.Fault) {
                let settings = try builder.settings(snapshot, previous: previous)
                // last, because a script that was started for nothing ends with its snapshot
                let faults = scripts.start(snapshot.scripts)
                return faults.isEmpty ? .settings(settings) : .faults(faults.map(\.remark))
            } catch {
                return .faults([ConfigurationRemark(error.description)])
            }
        }
    }

    private func came(_ reading: Reading) {
        guard var report = reports.popLast() else { return }
        switch reading {
        case .faults(let faults):
            daemon.reloadFailed(faults)
            report.outcome = .failed(faults)
        case .settings(let settings):
            do throws(SystemError) {
                let (changed, restart) = try daemon.adopt(settings, by: report.by)
                report.outcome = .done(
                    changed: changed, restart: restart, warnings: settings.snapshot.warnings.map(\.remark))
            } catch {
                let faults = [ConfigurationRemark("the journal cannot be opened: \(error.description)")]
                daemon.reloadFailed(faults)
                report.outcome = .failed(faults)
            }
        }
        report.generation = daemon.generation
        report.at = time(nil)
        reports.append(report)
        guard let next else { return }
        self.next = nil
        if !daemon.isStopping { start(next.number, next.by) }
    }
}

extension Diagnostic {
    /// The finding as the admin API returns it.
    var remark: ConfigurationRemark {
        let suggestion = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
        return ConfigurationRemark(
            "\(severity.rawValue): \(message)\(suggestion)", at: .init(file: file, line: line, column: column))
    }
}

extension ConfigurationRemark {
    /// One line: `usher.yaml:12:5: error: …`.
    var line: String { place.map { "\($0.file):\($0.line):\($0.column): \(text)" } ?? text }
}
