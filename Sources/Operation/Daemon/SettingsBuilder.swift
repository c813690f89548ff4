import Configuration
import Names
import ProxyCore
import ProxyDriver
import TLSEngine

/// A configuration → what workers act by. Reads files and may take its time, so that it is called on any thread but a loop's
/// that serves.
struct SettingsBuilder: Sendable {
    struct Settings: Sendable {
        var snapshot: Snapshot
        var workers: WorkerSettings
        /// What the operator should know.
        var remarks: [String]
    }

    /// Clients speak TLS to one of the sockets at least.
    var isListenerSecure: Bool
    /// The first address that the proxy listens on.
    var address: ListeningAddress?
    var pseudonym: String
    var drainLimit: Int?
    /// A collector that was not there at the start gets nothing until the next one, and origins are told of no trace.
    var exportsTraces = true

    /// - Parameters:
    ///   - trust: the system's authorities, where they are read ahead; asked for last, for it may wait for them.
    ///   - previous: of the generation before.
    func settings(
        _ snapshot: Snapshot, trust: () -> SystemTrust? = { nil }, previous: TLSMaterial?
    ) throws(SecurityBuilder.Fault) -> Settings {
        var settings = snapshot.settings
        if !exportsTraces { settings.disclosure.traceShare = nil }
        let security = SecurityBuilder()
        // the pages show the CA, which may be made only now
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
