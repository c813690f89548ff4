import Configuration
import Glibc
import ProxyDriver
import TLSEngine

/// What the daemon runs by.
struct RunningConfiguration {
    private(set) var snapshot: Snapshot
    /// What it began with; some of that stays until the next start.
    private let started: Snapshot
    /// When it came into force, in seconds since 1970, and who had it read.
    private(set) var since = time(nil)
    private(set) var by = "start"
    /// Keys that are another in the file, and take effect at the next start.
    private(set) var restart: [String] = []
    private(set) var material: TLSMaterial?
    /// What the operator was told of it.
    private var remarks: [String] = []

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        started = snapshot
    }

    /// Workers begin with what was made of it.
    mutating func begin(with settings: SettingsBuilder.Settings) {
        (material, remarks) = (settings.workers.tls, settings.remarks)
    }

    /// What was read, with the number that it has once it is in force.
    func next(_ settings: SettingsBuilder.Settings) -> Snapshot {
        var new = settings.snapshot
        new.generation = snapshot.generation + 1
        return new
    }

    /// The keys and files that are another in it.
    func changes(to settings: SettingsBuilder.Settings) -> [String] {
        var changed = snapshot.outline.changes(to: settings.snapshot.outline)
        if let old = material?.leaves, let now = settings.workers.tls.leaves,
            old.authority.certificate.der != now.authority.certificate.der,
            !changed.contains("tls.ca")
        {
            changed.append("tls.ca")
        }
        return changed
    }

    /// What the operator was not told yet.
    func news(in settings: SettingsBuilder.Settings) -> [String] {
        settings.remarks.filter { !remarks.contains($0) }
    }

    /// - Parameter whom: who had it read.
    mutating func become(_ new: Snapshot, _ settings: SettingsBuilder.Settings, by whom: String) {
        snapshot = new
        begin(with: settings)
        restart = started.needingRestart(for: new)
        since = time(nil)
        by = whom
    }
}
