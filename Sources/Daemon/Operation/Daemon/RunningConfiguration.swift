import Configuration
import Glibc
import ProxyDriver
import TLSEngine

/// The configuration in effect.
struct RunningConfiguration {
    private(set) var snapshot: Snapshot
    /// The configuration at the start. Some of its keys stay in effect until the next start.
    private let started: Snapshot
    /// The time at which the configuration took effect, in seconds since 1970, and the initiator of the load.
    private(set) var since = time(nil)
    private(set) var by = "start"
    /// Keys that have changed in the file and take effect at the next start.
    private(set) var restart: [String] = []
    private(set) var material: TLSMaterial?
    /// The remarks that the operator has seen.
    private var remarks: [String] = []

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        started = snapshot
    }

    /// Records the settings that the workers start with.
    mutating func begin(with settings: SettingsBuilder.Settings) {
        (material, remarks) = (settings.workers.tls, settings.remarks)
    }

    /// The loaded snapshot with its generation number.
    func next(_ settings: SettingsBuilder.Settings) -> Snapshot {
        var new = settings.snapshot
        new.generation = snapshot.generation + 1
        return new
    }

    /// The keys and files that have changed.
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

    /// The remarks that the operator has not seen yet.
    func news(in settings: SettingsBuilder.Settings) -> [String] {
        settings.remarks.filter { !remarks.contains($0) }
    }

    /// - Parameter whom: the initiator of the load.
    mutating func become(_ new: Snapshot, _ settings: SettingsBuilder.Settings, by whom: String) {
        snapshot = new
        begin(with: settings)
        restart = started.needingRestart(for: new)
        since = time(nil)
        by = whom
    }
}
