import Configuration
import Names
import ProxyCore
import ProxyDriver
import TLSEngine

/// Builds the workers' settings from a configuration. It reads files and may be slow, so never call it on a worker's loop.
struct SettingsBuilder: Sendable {
    struct Settings: Sendable {
        var snapshot: Snapshot
        var workers: WorkerSettings
        /// Remarks for the operator.
        var remarks: [String]
    }

    /// True if a listening socket uses TLS.
    var isListenerSecure: Bool
    /// The first address that the proxy listens on.
    var address: ListeningAddress?
    var pseudonym: String
    var drainLimit: Int?
    /// False if the daemon started without a collector: traces then stay disabled until the next start.
    var exportsTraces = true

    /// - Parameters:
    ///   - trust: the system's authorities, if they are being read in advance. Used last, because it may block.
    ///   - previous: the settings of the previous generation.
    func settings(
        _ snapshot: Snapshot, trust: () -> SystemTrust? = { nil }, previous: TLSMaterial?
    ) throws(SecurityBuilder.Fault) -> Settings {
        var settings = snapshot.settings
        if !exportsTraces { settings.disclosure.traceShare = nil }
        let security = SecurityBuilder()
        // first, because the pages show the CA, which this may create
        let (leaves, words) = try security.leaves(
            for: snapshot, isListenerSecure: isListenerSecure, previous: previous)
        let engine = Engine(settings, pseudonym: pseudonym, pages: PageBuilder.pages(snapshot, at: address))
        let (material, remarks) = try security.material(
            for: snapshot, leaves: leaves, trust: trust(), previous: previous)
        var workers = WorkerSettings(
            engine: engine, clients: snapshot.clients, destinations: snapshot.destinations, tls: material)
        workers.names = NameService.Settings(
            servers: snapshot.nameServers, timeout: snapshot.settings.timeouts.resolve)
        if let drainLimit { workers.drainLimit = drainLimit }
        return Settings(snapshot: snapshot, workers: workers, remarks: words + remarks)
    }
}
